"""Processes that are interrupted, killed, run side by side, or whose reader goes away."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lanewright.queue.build import build
from tests.conftest import World
from tests.process import COMMAND, finish, killing_git, start


def test_ctrl_c_ends_with_130_and_leaves_the_old_lock(world: World, tmp_path: Path) -> None:
    assert world.run("build") == 0
    before = world.lock.read_bytes()
    world.edit("overlay/sample_package/__init__.py", "Ours", "Edited")
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    started = tmp_path / "started"
    git.write_text(f"#!/bin/sh\n: >{started}\nexec sleep 5\n")
    git.chmod(0o755)
    path = f"{git.parent}:{os.environ['PATH']}"
    process = start(world.root, "build", env={"PATH": path, "GIT_PYTHON_REFRESH": "quiet"})
    while not started.exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    code, out, talk = finish(process)
    assert code == 130
    assert "lanewright: interrupted" in talk
    assert "Traceback" not in talk
    assert out == ""
    assert world.lock.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "streams"), [(["list"], ""), (["show"], " 2>&1"), (["report", "--json"], "")]
)
def test_a_reader_that_goes_away_is_no_error(
    world: World, arguments: list[str], streams: str
) -> None:
    build(world.project, world.places, "sample")
    command = " ".join([*COMMAND, "-C", str(world.root), *arguments])
    ended = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}{streams} | head -c 0"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "BrokenPipe" not in ended.stderr


@pytest.mark.parametrize("command", ["list", "build"])
def test_output_that_cannot_be_written_ends_with_1(world: World, command: str) -> None:
    shell = " ".join([*COMMAND, "-C", str(world.root), command, ">/dev/full"])
    ended = subprocess.run(["bash", "-c", shell], check=False, capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr.rstrip().endswith("lanewright: No space left on device")


def settled(world: World, expected: bytes) -> bool:
    """A build now gives the expected lock, and git finds the store whole."""
    code, _, talk = finish(start(world.root, "build"))
    assert code == 0, talk
    assert world.lock.read_bytes() == expected
    world.repository.run("fsck", "--full", "--strict")
    left = [*world.places.objects.rglob("*.lock"), *world.places.objects.glob("*/pack/tmp_*")]
    return not left


@pytest.fixture
def expected(world: World) -> bytes:
    """The lock that a build gives; taken away again."""
    lock = build(world.project, world.places, "sample").lock
    content = world.lock.read_bytes()
    world.lock.unlink()
    world.repository.run("update-ref", "-d", f"refs/trees/{lock.tree}")
    world.repository.run("prune", "--expire=now")
    return content


def test_two_builds_at_once_give_one_lock(world: World, expected: bytes) -> None:
    running = [start(world.root, "build") for _ in range(3)]
    ended = [finish(process) for process in running]
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    assert len({out for _, out, _ in ended}) == 1
    assert settled(world, expected)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("call", ["merge-tree", "update-ref"])
def test_a_build_killed_at_a_git_call_is_made_by_the_next(
    world: World, tmp_path: Path, expected: bytes, moment: str, call: str
) -> None:
    killer = killing_git(tmp_path / "bin", moment, call)
    code, out, _ = finish(start(world.root, "build", env=killer))
    assert (code, out) == (-9, "")
    assert not world.lock.exists()  # renaming the lock is the one commit point
    assert settled(world, expected)


@pytest.mark.parametrize("seed", range(2))
def test_a_build_killed_at_any_moment_is_made_by_the_next(
    world: World, expected: bytes, seed: int
) -> None:
    process = start(world.root, "build")
    time.sleep(random.Random(seed).uniform(0.2, 1.0))  # noqa: S311 - no secret
    process.kill()
    finish(process)
    assert not world.lock.exists() or world.lock.read_bytes() == expected
    assert settled(world, expected)
