"""Our own files as they are read from the project."""

import os
from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.build import build
from lanewright.queue.overlay import OverlayFile, digest, read_overlay
from lanewright.store.objects import files
from tests.conftest import World


def paths(world: World, name: str = "sample_package") -> list[str]:
    return [file.path for file in read_overlay(world.project, name, "here")]


def write(world: World, path: str, content: str = "") -> Path:
    file = world.root / "overlay" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    return file


def test_a_package_comes_with_its_metadata_beside_vllm(world: World) -> None:
    write(world, "sample_package/deep/er/x.json", "{}")
    write(world, "other/x.py")
    assert paths(world) == [
        "sample_package-1.dist-info/METADATA",
        "sample_package/__init__.py",
        "sample_package/deep/er/x.json",
    ]


def test_tree_is_laid_into_the_tree_itself(world: World) -> None:
    write(world, "tree/vllm/models/ours.py", "x = 1\n")
    world.edit("series/sample.toml", 'overlay = "sample_package"', 'overlay = "tree"')
    lock = build(world.project, world.places, "sample").lock
    assert "vllm/models/ours.py" in files(world.repository, lock.tree)


@pytest.mark.parametrize(
    "leaving",
    [
        "sample_package/__pycache__/x.cpython-311.pyc",
        "sample_package/x.pyc",
        "sample_package/.x.py.swp",
        "sample_package/.git/config",
        "sample_package/x.py~",
        "sample_package/.mypy_cache/x.json",
    ],
)
def test_what_tools_and_editors_leave_is_no_content(world: World, leaving: str) -> None:
    before = paths(world)
    write(world, leaving)
    (world.root / "overlay/sample_package/empty folder").mkdir()
    assert paths(world) == before


def test_a_folder_that_is_not_there_is_told_with_those_that_are(
    world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    write(world, "fixes/5/x.fix")
    write(world, "other/x.py")
    world.edit("series/sample.toml", 'overlay = "sample_package"', 'overlay = "mine"')
    assert world.run("build") == 1
    assert capfd.readouterr().err.endswith(
        "series/sample.toml: entry 2: no folder overlay/mine (a symlink is none)\n"
        "  next: make it, or name one that is there: other, sample_package\n"
    )
    (world.root / "overlay/mine").mkdir()
    assert world.run("build") == 1
    assert "no files in overlay/mine\n  next: put some there" in capfd.readouterr().err


def test_mode_and_bytes_are_kept(world: World) -> None:
    file = write(world, "sample_package/run.sh")
    file.write_bytes(b"\0\r\n\xe9")
    file.chmod(0o755)
    [found] = [f for f in read_overlay(world.project, "sample_package", "") if "run" in f.path]
    assert found == OverlayFile("sample_package/run.sh", "100755", b"\0\r\n\xe9")
    lock = build(world.project, world.places, "sample").lock
    assert files(world.repository, lock.tree)["sample_package/run.sh"].mode == "100755"


@pytest.mark.parametrize("target", ["/etc/passwd", "__init__.py", "absent", ".."])
def test_a_symlink_is_refused(world: World, target: str) -> None:
    (world.root / "overlay/sample_package/link").symlink_to(target)
    with pytest.raises(LanewrightError, match=r"here: .*sample_package/link is no regular file"):
        paths(world)


def test_a_pipe_is_refused(world: World) -> None:
    os.mkfifo(world.root / "overlay/sample_package/pipe")
    with pytest.raises(LanewrightError, match="pipe is no regular file"):
        paths(world)


@pytest.mark.parametrize("name", ["absent", "sample_package/__init__.py", "*"])
def test_an_overlay_without_files_is_an_error(world: World, name: str) -> None:
    with pytest.raises(LanewrightError, match=r"here: no f(iles in|older) overlay/"):
        paths(world, name)


@pytest.mark.parametrize("name", ["../patches", "/etc", "", ".", "sample_package/../other"])
def test_an_overlay_outside_its_folder_is_refused(world: World, name: str) -> None:
    with pytest.raises(LanewrightError, match="here: the path"):
        paths(world, name)


@pytest.mark.parametrize("name", ["a\nb.py", "a.", "a\\b.py", os.fsdecode(b"caf\xe9.py")])
def test_a_name_that_no_tree_may_hold_is_refused(world: World, name: str) -> None:
    (world.root / "overlay/sample_package" / name).write_text("")
    with pytest.raises(LanewrightError, match="here: the path"):
        paths(world)


def test_an_overlay_file_below_a_file_of_upstream_is_refused(world: World) -> None:
    write(world, "tree/vllm/config.py/x.py")
    world.edit("series/sample.toml", 'overlay = "sample_package"', 'overlay = "tree"')
    with pytest.raises(LanewrightError, match=r"entry 2 \(tree\): vllm/config\.py"):
        build(world.project, world.places, "sample")


def test_the_digest_sees_paths_modes_and_contents() -> None:
    variants = [
        [OverlayFile("a", "100644", b"x")],
        [OverlayFile("a", "100755", b"x")],
        [OverlayFile("b", "100644", b"x")],
        [OverlayFile("a", "100644", b"xx")],
        [OverlayFile("a", "100644", b"x"), OverlayFile("b", "100644", b"")],
        [],
    ]
    assert len({digest(variant) for variant in variants}) == len(variants)
