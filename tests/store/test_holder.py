"""Who holds a lock, as those who wait are told; what lies beside the lock may be anything."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lanewright.store.holder import holder_of, told_beside
from lanewright.store.locking import held

HOLD = """
import sys
from pathlib import Path
from lanewright.store.locking import held
with held(Path(sys.argv[1]), "runs a lane", lane="cpu-tiny"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "run.lock"


@pytest.fixture
def beside(lock: Path) -> Path:
    return lock.with_name("run.lock.holder")


def holding(lock: Path) -> "subprocess.Popen[str]":
    """A process that holds the lock until its input closes."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_is_told_while_it_holds(lock: Path, beside: Path) -> None:
    with holding(lock) as process:
        told = holder_of(lock)
        process.communicate()
    assert told.startswith(f"cpu-tiny, process {process.pid}, since 20")
    assert told.endswith(" UTC")
    assert not beside.exists()
    assert holder_of(lock) == ""


def test_one_that_was_killed_is_not_told(lock: Path, beside: Path) -> None:
    with holding(lock) as process:
        process.send_signal(signal.SIGKILL)
    assert beside.exists()
    assert holder_of(lock) == ""
    with held(lock, "runs a lane", lane="next"):
        assert holder_of(lock).startswith(f"next, process {os.getpid()}, since ")
    assert not beside.exists()


@pytest.mark.parametrize(("lanes", "told"), [("", ""), ("a", "a, "), ("a, b-2, c", "a, b-2, c, ")])
def test_it_is_held_for_any_number_of_lanes(lock: Path, lanes: str, told: str) -> None:
    with held(lock, "spends a night", lane=lanes):
        assert holder_of(lock).startswith(f"{told}process {os.getpid()}, since ")


@pytest.mark.parametrize(
    "change",
    [
        {"host": "elsewhere"},
        {"start": 1},
        {"pid": 2**40},
        {"pid": -1},
        {"pid": "1"},
        {"lane": "x\x1b[2J"},
        {"lane": "x\n"},
        {"lane": "x" * 101},
        {"lane": "x,y"},
        {"lane": "x, "},
        {"lane": ", x"},
        {"since": "yesterday"},
        {"since": "0001-01-01T00:00:00+14:00"},
        {"more": 1},
    ],
)
def test_what_does_not_fit_is_not_told(lock: Path, beside: Path, change: dict[str, Any]) -> None:
    with told_beside(lock, "mine"):
        found = json.loads(beside.read_bytes())
        assert holder_of(lock)
        beside.write_text(json.dumps({**found, **change}))
        assert holder_of(lock) == ""


@pytest.mark.parametrize(
    "lay",
    [
        lambda path: path.write_bytes(b"\xff"),
        lambda path: path.write_bytes(b"[" * 10_000),
        lambda path: path.mkdir(),
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to(path),
    ],
)
def test_whatever_lies_there_is_neither_followed_nor_waited_for(
    lock: Path, beside: Path, lay: Callable[[Path], object]
) -> None:
    lay(beside)
    assert holder_of(lock) == ""


def test_where_it_cannot_be_told_the_lock_is_held_all_the_same(lock: Path, beside: Path) -> None:
    beside.mkdir()
    with held(lock, "runs a lane", lane="mine"):
        assert holder_of(lock) == ""
