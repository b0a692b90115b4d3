"""What may be locked; the refusal of a real ``mlock`` too."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import expert_bank
from expert_bank.memlock import Memlock, memlock
from tests.expert_bank.machines import GIB, written

OVERLAY = Path(expert_bank.__file__).parents[1]

# Locks for real, as a user who may not lock more than the limit.
SCRIPT = """\
import ctypes, os, resource, sys
sys.path.insert(0, sys.argv[1])
from expert_bank.memlock import memlock
from expert_bank.pages import HostPages
from expert_bank.refused import Refused
from expert_bank.registration import Registration

libc = ctypes.CDLL(None, use_errno=True)
lock = lambda at, length: ctypes.set_errno(0) or libc.mlock(ctypes.c_void_p(at), ctypes.c_size_t(length)) and ctypes.get_errno()
locked = []
def register(at, length):
    locked.append(memlock().locked)
    return lock(at, length)
unlock = lambda at: libc.munlock(ctypes.c_void_p(at), ctypes.c_size_t(2**20))

resource.setrlimit(resource.RLIMIT_MEMLOCK, (4 * 2**20, 4 * 2**20))
if os.getuid() == 0:
    os.setresuid(65534, 65534, 65534)
small = Registration(HostPages(2**20), register=register, unregister=unlock, most=2**20)
try:
    Registration(HostPages(8 * 2**20), register=register, unregister=unlock, most=2**20)
except Refused as refused:
    print(refused)
print(locked[-1] // 2**20, memlock().locked // 2**20)
small.close()
print(memlock().locked)
"""


def test_a_real_lock_beyond_the_limit_is_refused_and_undone() -> None:
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(OVERLAY)], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == [
        "host memory cannot be pinned: 8.00 MiB needed + 1.00 MiB locked + 0 B pinned - 4.00 MiB allowed (RLIMIT_MEMLOCK) = 5.00 MiB too much",
        "start the container with --ulimit memlock=-1, or raise `ulimit -l`",
        "4 1",
        "0",
    ]


@pytest.mark.parametrize(
    ("limit", "needed", "refused"),
    [(None, 2**60, False), (8 * GIB, 5 * GIB, False), (8 * GIB, 5 * GIB + 1, True), (0, 1, True)],
)
def test_all_that_is_locked_counts(limit: int | None, needed: int, refused: bool) -> None:  # noqa: FBT001 - a table
    assert (Memlock(limit, 2 * GIB, GIB).refusal(needed) is not None) == refused


def test_this_process_is_read() -> None:
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    found = memlock()
    assert found.limit == (None if limit == resource.RLIM_INFINITY else limit)
    assert found.locked >= 0


def test_odd_texts_count_as_nothing(tmp_path: Path) -> None:
    assert memlock(root=tmp_path).locked == 0
    root = written(
        tmp_path, {"proc/self/status": "Name:\tVmLck: 5 kB\nVmLck:\t  7 kB\nVmPin:\tx\n"}
    )
    assert (memlock(root=root).locked, memlock(root=root).pinned) == (7 * 1024, 0)
