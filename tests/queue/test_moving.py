"""A folder that is taken from tree to tree: it always holds the one that was asked for."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lanewright.queue.build import build
from lanewright.queue.culprit.moving import MovingSite
from lanewright.queue.lock import Lock
from lanewright.store.companions import companion_paths, companions
from lanewright.store.objects import EMPTY, TreeId, files, read_blobs
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files
from tests.conftest import World

CONFIG = "vllm/config.py"


@pytest.fixture
def lock(world: World) -> Lock:
    return build(world.project, world.places, "sample").lock


@pytest.fixture
def site(world: World, lock: Lock, tmp_path: Path) -> MovingSite:
    return MovingSite(
        tmp_path / "tree", world.repository, companions(world.places, lock.pin.release)
    )


def require_held(site: MovingSite, tree: TreeId) -> None:
    """Every file, mode and link of the tree, the companions, and nothing else."""
    listed = files(site.repository, tree)
    contents = read_blobs(site.repository, [file.blob for file in listed.values()])
    beside = {path.as_posix() for path in companion_paths(site.beside)}
    on_disk = {
        p.relative_to(site.folder).as_posix() for p in site.folder.rglob("*") if not p.is_dir()
    }
    assert on_disk == listed.keys() | beside
    for path, file in listed.items():
        place = site.folder / path
        if file.mode == "120000":
            assert os.fsencode(place.readlink()) == contents[file.blob]
            continue
        assert not place.is_symlink()
        assert place.read_bytes() == contents[file.blob]
        assert bool(place.stat().st_mode & 0o100) == (file.mode == "100755")
    for path in beside:
        assert (site.folder / path).readlink() == site.beside / path
    folders = {p for p in site.folder.rglob("*") if p.is_dir()}
    assert all(any(folder.iterdir()) for folder in folders)


def edited(site: MovingSite, tree: TreeId, **changes: Content | None) -> TreeId:
    """A tree with other files; ``__`` stands for the slash, and each is Python."""
    named = {f"{name.replace('__', '/')}.py": content for name, content in changes.items()}
    return edit_tree(site.repository, tree, store_files(site.repository, named))


def test_only_what_differs_is_written(site: MovingSite, lock: Lock) -> None:
    site.hold(lock.tree)
    require_held(site, lock.tree)
    before = {path: path.lstat() for path in site.folder.rglob("*") if not path.is_dir()}
    other = edited(site, lock.tree, vllm__config=Content("100755", b"a = 1\n"), vllm__new=None)
    site.hold(other)
    require_held(site, other)
    moved = {path for path, info in before.items() if path.lstat() != info}
    assert moved == {site.folder / CONFIG}


def test_a_file_becomes_a_folder_a_link_and_nothing(site: MovingSite, lock: Lock) -> None:
    link, plain = Content("120000", b"config.py"), Content("100644", b"a = 1\n")
    trees = [
        lock.tree,
        lock.pin.tree,
        edited(site, lock.tree, vllm__config=None),
        edited(site, lock.tree, vllm__config=None, **{"vllm__config.py__inner": plain}),
        edited(site, lock.tree, vllm__link=link, vllm__deep__er__still=plain),
        edited(site, lock.tree, vllm__link=plain, vllm__deep=plain),
        EMPTY,
    ]
    for first in trees:
        for second in trees:
            site.hold(first)
            site.hold(second)
            require_held(site, second)


def overwrite(folder: Path) -> None:
    info = (folder / CONFIG).stat()
    (folder / CONFIG).write_bytes((folder / CONFIG).read_bytes()[::-1])
    os.utime(folder / CONFIG, ns=(info.st_atime_ns, info.st_mtime_ns))


def link_outside(folder: Path) -> None:
    outside = folder.parent / "outside.py"
    outside.write_bytes(b"mine\n")
    (folder / CONFIG).unlink()
    (folder / CONFIG).symlink_to(outside)


def fill(folder: Path) -> None:
    (folder / CONFIG).unlink()
    (folder / CONFIG / "within").mkdir(parents=True)
    (folder / "vllm/__pycache__").mkdir()
    (folder / "vllm/__pycache__/config.pyc").write_bytes(b"stale")
    (folder / "left").symlink_to("/")


def replace_a_folder(folder: Path) -> None:
    shutil.rmtree(folder / "sample_package")
    (folder / "sample_package").write_bytes(b"a file")


def replace_a_companion(folder: Path) -> None:
    (folder / "vllm/_version.py").unlink()
    (folder / "vllm/_version.py").write_bytes(b"own\n")


@pytest.mark.parametrize(
    "harm",
    [
        overwrite,
        link_outside,
        fill,
        replace_a_folder,
        replace_a_companion,
        shutil.rmtree,
        lambda folder: (folder / CONFIG).chmod(0o755),
        lambda folder: [path.unlink() for path in folder.rglob("*") if path.is_symlink()],
    ],
)
def test_what_was_done_to_it_meanwhile_is_put_right(
    site: MovingSite, lock: Lock, harm: Callable[[Path], object]
) -> None:
    for tree in (lock.tree, lock.pin.tree):
        site.hold(lock.tree)
        harm(site.folder)
        site.hold(tree)
        require_held(site, tree)
    outside = site.folder.parent / "outside.py"
    assert not outside.exists() or outside.read_bytes() == b"mine\n"


def test_python_never_takes_a_compiled_file_of_another_tree(site: MovingSite, lock: Lock) -> None:
    """Trees come and go within one second, and their files are of one size."""
    code = "import vllm.value; print(vllm.value.A)"
    trees = [
        edited(site, lock.tree, vllm__value=Content("100644", b"A = %d\n" % n)) for n in (1, 2)
    ]
    for turn in range(6):
        site.hold(trees[turn % 2])
        ended = subprocess.run(
            [sys.executable, "-S", "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(site.folder), "PYTHONPYCACHEPREFIX": str(site.folder.parent)},
        )
        assert ended.stdout == f"{turn % 2 + 1}\n"
