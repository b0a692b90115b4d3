"""A process is told apart from a later one that has its number."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from expert_bank import writer
from expert_bank.stats import snapshot
from expert_bank.stats_file import read_stats
from expert_bank.writer import alive, is_there, may_have_written, started
from tests.expert_bank.watched import Banks

OF_ANOTHER_BOOT = f"00000000-0000-4000-8000-000000000000:{10**4}"
# Run as process 1, as a container's is at each of its starts.
AS_FIRST = """
import json, sys
from expert_bank.writer import is_there, started
name = sys.argv[1]
if sys.argv[2] == "write":
    json.dump({"pid": 1, "started": started(1), "time": 10**10}, open(name, "w"))
assert is_there(json.load(open(name)))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return snapshot(Banks(), "/models/m")  # type: ignore[arg-type]


@pytest.fixture
def gone() -> int:
    """Number of a process that is no more."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def machine(root: Path, *, own: int, stats: str = "", boot: str = "") -> Path:
    """A ``/proc`` in which this process has such a number, and process 1 such a ``stat``."""
    (root / "1").mkdir()
    (root / "self").symlink_to(str(own))
    (root / "1" / "stat").write_text(stats)
    (root / "sys/kernel/random").mkdir(parents=True)
    (root / "sys/kernel/random/boot_id").write_text(boot)
    return root


def test_a_start_is_one_processs_own(gone: int) -> None:
    own = started(os.getpid())
    time.sleep(2 / os.sysconf("SC_CLK_TCK"))
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        assert started(os.getpid()) == own
        later = started(child.pid)
    assert own is not None
    assert later is not None
    boot, ticks = own.split(":")
    assert boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert later.startswith(f"{boot}:")
    assert int(later.split(":")[1]) > int(ticks)
    assert (started(gone), started(2**40)) == (None, None)


def test_a_later_process_of_the_number_is_not_it(told: dict[str, Any], gone: int) -> None:
    own = os.getpid()
    boot = told["started"].split(":")[0]
    assert is_there(told)
    for start in (f"{boot}:1", OF_ANOTHER_BOOT):
        assert not is_there({**told, "started": start})
    assert not is_there({**told, "pid": gone, "started": told["started"]})
    assert told["pid"] == own


def test_without_a_start_what_began_later_is_not_it(told: dict[str, Any], gone: int) -> None:
    before = {key: value for key, value in told.items() if key != "started"}
    for stats in (before, {**before, "started": None}):
        assert is_there(stats)
        assert not is_there({**stats, "pid": gone})
        assert not is_there({**stats, "time": time.time() - 3 * 24 * 3600})


def test_a_process_wrote_nothing_before_it_began() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        now = time.time()
        assert may_have_written(child.pid, now)
        assert not may_have_written(child.pid, now - 60)


@pytest.mark.parametrize(
    "stats", ["", "1 (init", "1 (a) b) S 0", f"1 (x) {'0 ' * 19}many 0"], ids=ascii
)
def test_where_the_start_cannot_be_read_the_number_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: dict[str, Any], gone: int, stats: str
) -> None:
    monkeypatch.setattr(writer, "PROC", machine(tmp_path, own=os.getpid(), stats=stats, boot="b"))
    assert started(1) is None
    for start in (None, OF_ANOTHER_BOOT):
        assert is_there({**told, "pid": 1, "started": start, "time": 0.0})
        assert not is_there({**told, "pid": gone, "started": start, "time": 0.0})


def test_a_proc_that_is_of_others_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = f"1 (a) b ) S {'0 ' * 18}77 0"
    ours, others, bootless = (tmp_path / name for name in ("ours", "others", "bootless"))
    for root in (ours, others, bootless):
        root.mkdir()
    monkeypatch.setattr(writer, "PROC", machine(ours, own=os.getpid(), stats=stats, boot="b\n"))
    assert started(1) == "b:77"
    monkeypatch.setattr(writer, "PROC", machine(others, own=10**7, stats=stats, boot="b\n"))
    assert started(1) is None
    assert may_have_written(1, 0.0)
    monkeypatch.setattr(writer, "PROC", machine(bootless, own=os.getpid(), stats=stats))
    assert started(1) is None
    monkeypatch.setattr(writer, "PROC", tmp_path / "absent")
    assert started(os.getpid()) is None
    assert may_have_written(os.getpid(), 0.0)


def test_process_1_of_a_container_is_not_that_of_the_one_before(tmp_path: Path) -> None:
    namespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*namespace, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no namespace of processes may be made here")
    command = [*namespace, sys.executable, "-c", AS_FIRST, str(tmp_path / "stats.json")]
    ended = [
        subprocess.run([*command, how], check=False, capture_output=True, text=True)
        for how in ("write", "ask")
    ]
    assert ended[0].returncode == 0, ended[0].stderr
    assert ended[1].returncode == 1
    assert ended[1].stderr.endswith("AssertionError\n")


def test_what_a_worker_writes_tells_it(tmp_path: Path) -> None:
    Banks().watched(tmp_path / "stats.json")
    assert read_stats(tmp_path / "stats.json")["started"] == started(os.getpid()) is not None


def test_who_is_alive(gone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert alive(os.getpid())
    assert not alive(gone)
    assert not alive(0)

    def kill(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert alive(1)
