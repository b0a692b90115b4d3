"""A lane that has a layer, and trees made of any files."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lanewright.image.layout import lay_out, layout_folder
from lanewright.queue.build import build
from lanewright.queue.lock import Lock
from lanewright.store.git import Repository, create
from lanewright.store.objects import TreeId
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files
from tests.conftest import World
from tests.image.in_skopeos_place import serving

EMPTY = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
ROOT = "usr/lib/python3/dist-packages"
MakeTree = Callable[[Mapping[str, bytes | tuple[str, bytes]]], TreeId]


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A store of nothing but objects; they never change, so all tests share it."""
    return create(tmp_path_factory.mktemp("layers") / "objects.git")


@pytest.fixture(scope="session")
def tree(repository: Repository) -> MakeTree:
    """Make a tree; a value may be ``(mode, content)``."""

    def make(files: Mapping[str, bytes | tuple[str, bytes]]) -> TreeId:
        contents: dict[str, Content | None] = {
            path: Content(*value) if isinstance(value, tuple) else Content("100644", value)
            for path, value in files.items()
        }
        return edit_tree(repository, EMPTY, store_files(repository, contents))

    return make


@pytest.fixture
def imaged(world: World) -> World:
    """The sample project, whose lane says where its image has vLLM; not built yet."""
    table = f'[image]\nsite_packages = "/{ROOT}"\n\n# the hook'
    world.edit("series/sample.toml", "# the hook", table)
    return world


@pytest.fixture
def lock(imaged: World) -> Lock:
    return build(imaged.project, imaged.places, "sample").lock


@pytest.fixture
def amd64(imaged: World) -> Lock:
    """The same lane, for one architecture whatever this machine is."""
    imaged.edit("series/sample.toml", "[image]\n", '[image]\narchitecture = "amd64"\n')
    return build(imaged.project, imaged.places, "sample").lock


@pytest.fixture
def layout(imaged: World, lock: Lock) -> Path:
    """The image of the sample lane, in its store."""
    folder = layout_folder(imaged.places, lock)
    lay_out(imaged.repository, lock, folder)
    return folder


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a registry has: files by the digests of which they are told."""
    monkeypatch.setenv("PATH", f"{serving(tmp_path)}:/usr/bin:/bin")
    return tmp_path / "served"
