"""In a folder each server has a stats file of its own; a file that two of them write is told."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expert_bank.config import SERVER, STATS, stats_place
from expert_bank.stats import STILL, snapshot
from expert_bank.stats_file import read_stats, write_stats
from expert_bank.stats_folder import KEPT, all_stats, file_of, other_writer, remove_old
from expert_bank.stats_left import WRITING, beside
from expert_bank.writer import started
from tests.expert_bank.watched import Banks

FIRST, SECOND, THIRD = "0123456789abcdef", "fedcba9876543210", "00ff00ff00ff00ff"


@pytest.fixture(scope="module")
def gone() -> int:
    """Number of a process that is no more."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


@pytest.fixture
def told() -> dict[str, Any]:
    """Stats as they were before they told when their process started."""
    banks = Banks()
    banks.serve([5, 1, 3, 1], 3)
    stats = snapshot(banks, "/models/m")  # type: ignore[arg-type]
    del stats["started"]
    return stats


def left(folder: Path, name: str, told: dict[str, Any], *, age: float = KEPT + 1) -> Path:
    """A server's last stats, so long ago."""
    path = file_of(folder, name)
    write_stats(path, {"server": name, **told})
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_two_servers_of_one_folder_have_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {}
    for server in (FIRST, SECOND):
        monkeypatch.setenv(SERVER, server)
        monkeypatch.setenv(STATS, str(tmp_path))
        place = stats_place()
        assert place is not None
        banks = Banks()
        banks.watched(place)
        banks.serve([1, 1, 1, 1], 64)
        assert not banks.warned
        files[server] = place
    assert len({*files.values()}) == 2
    assert {name: read_stats(file)["server"] for name, file in files.items()} == {
        name: name for name in files
    }
    assert [path for path, _ in all_stats(tmp_path)] == sorted(files.values())


def test_a_process_of_no_named_server_has_a_file_too(tmp_path: Path) -> None:
    assert stats_place({STATS: str(tmp_path)}) == tmp_path / f"{os.getpid()}.json"
    file = tmp_path / "stats.json"
    assert stats_place({STATS: str(file), SERVER: FIRST}) == file


def test_a_file_that_another_process_writes_is_told_once(
    tmp_path: Path, told: dict[str, Any], gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "stats.json"
    monkeypatch.setenv(SERVER, FIRST)
    other = os.getppid()
    cases = (
        (gone, SECOND, 0),
        (gone, FIRST, 0),
        (os.getpid(), FIRST, 0),
        (os.getpid(), SECOND, 0),
        (other, FIRST, 1),
        (other, SECOND, 1),
    )
    for pid, server, warned in cases:
        write_stats(file, {**told, "pid": pid, "server": server})
        banks = Banks()
        banks.watched(file)
        assert len(banks.warned) == warned
        assert read_stats(file)["server"] == FIRST
    assert f"{file} is written by another worker, too (process {other}): " in banks.warned[0]
    assert other_writer(tmp_path / "absent") is None
    for impossible in (0, 2**40):
        write_stats(file, {**told, "pid": impossible, "server": SECOND})
        assert other_writer(file) is None


def test_what_servers_left_that_are_long_gone_is_removed(
    tmp_path: Path, told: dict[str, Any], gone: int
) -> None:
    old = left(tmp_path, FIRST, {**told, "server": FIRST, "pid": gone})
    half = beside(file_of(tmp_path, SECOND), gone)
    half.write_text("{")
    os.utime(half, (time.time() - WRITING - 1,) * 2)
    Banks().watched(file_of(tmp_path, THIRD))
    assert not old.exists()
    assert not half.exists()
    assert [each.name for each in tmp_path.iterdir()] == [f"{THIRD}.json"]


def test_a_running_servers_file_that_was_removed_is_written_again_at_its_next_look(
    tmp_path: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVER, FIRST)
    file = file_of(tmp_path, FIRST)
    banks = Banks()
    banks.watched(file)
    # As seen from another PID namespace.
    write_stats(file, {**read_stats(file), "pid": gone})
    os.utime(file, (time.time() - KEPT - 1,) * 2)
    remove_old(file_of(tmp_path, SECOND))
    assert not file.exists()
    banks.now += KEPT
    banks.serve([1, 1, 1, 1], STILL - 1)
    assert not file.exists()
    banks.serve([1, 1, 1, 1], 1)
    assert read_stats(file)["forwards"] == STILL
    assert not banks.warned


def test_what_runs_is_of_today_or_is_no_servers_stays(
    tmp_path: Path, told: dict[str, Any], gone: int
) -> None:
    kept = [
        left(tmp_path, FIRST, {**told, "server": FIRST, "pid": os.getpid()}),
        left(tmp_path, SECOND, {**told, "server": SECOND, "pid": gone}, age=KEPT - 60),
        left(tmp_path, "0" * 16, {**told, "server": "of another name", "pid": gone}),
        left(tmp_path, "somebodys", {**told, "server": "somebodys", "pid": gone}),
    ]
    broken = file_of(tmp_path, "1" * 16)
    broken.write_text("{")
    os.utime(broken, (0, 0))
    remove_old(file_of(tmp_path, THIRD))
    assert all(each.exists() for each in [*kept, broken])


def test_beside_a_file_of_its_own_name_nothing_is_removed(
    tmp_path: Path, told: dict[str, Any], gone: int
) -> None:
    other = left(tmp_path, FIRST, {**told, "server": FIRST, "pid": gone})
    remove_old(tmp_path / "stats.json")
    assert other.exists()


@pytest.mark.parametrize("number", [os.getpid, os.getppid])
def test_what_a_process_left_is_not_of_a_later_one_with_its_number(
    tmp_path: Path, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch, number: Callable[[], int]
) -> None:
    monkeypatch.setenv(SERVER, THIRD)
    pid = number()
    earlier = {**told, "pid": pid, "started": "another boot:7"}
    old = left(tmp_path, FIRST, {**earlier, "server": FIRST})
    kept = left(tmp_path, SECOND, {**told, "server": SECOND, "pid": pid, "started": started(pid)})
    file = file_of(tmp_path, THIRD)
    write_stats(file, {**earlier, "server": SECOND})
    banks = Banks()
    banks.watched(file)
    assert not old.exists()
    assert kept.exists()
    assert not banks.warned


def test_another_server_that_has_told_its_start_is_seen(
    tmp_path: Path, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVER, FIRST)
    file, other = tmp_path / "stats.json", os.getppid()
    write_stats(file, {**told, "server": SECOND, "pid": other, "started": started(other)})
    banks = Banks()
    banks.watched(file)
    assert len(banks.warned) == 1
