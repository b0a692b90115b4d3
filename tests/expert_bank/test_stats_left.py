"""What killed writers of a stats file left goes with the next server's start, and nothing else."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from expert_bank import stats_left
from expert_bank.stats_left import WRITING, beside, remove_left
from tests.expert_bank.watched import Banks


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "stats.json"


@pytest.fixture
def gone() -> int:
    """Number of a process that is no more."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def half(file: Path, pid: int | str, age: float = WRITING + 1) -> Path:
    """A file that such a process began so long ago."""
    path = file.with_name(f".{file.name}.{pid}")
    path.write_text("{")
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_a_killed_writers_half_goes_once_another_server_starts(file: Path, gone: int) -> None:
    path = half(file, gone)
    Banks().watched(file)
    assert not path.exists()
    assert [each.name for each in file.parent.iterdir()] == ["stats.json"]


def test_a_live_writers_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats_left, "WRITING", -1.0)
    path = half(file, os.getppid(), age=0)
    Banks().watched(file)
    assert path.exists()


def test_one_of_before_a_process_of_its_number_began_goes(file: Path) -> None:
    path = half(file, os.getppid(), age=10 * 365 * 24 * 3600)
    Banks().watched(file)
    assert not path.exists()


def test_what_may_be_a_writers_in_another_container_stays(file: Path, gone: int) -> None:
    path = half(file, gone, age=0)
    remove_left(file)
    assert path.exists()


def test_what_is_anothers_or_none_stays(
    file: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [half(file, each) for each in (f"0{gone}", f"{gone}.bak", f"-{gone}", "", "9" * 30)]
    kept.append(half(file.with_name("others.json"), gone))
    remove_left(file)
    mine = half(file, gone)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    remove_left(file)
    assert all(each.exists() for each in [*kept, mine])


def test_a_link_and_a_folder_stay_and_no_folder_is_no_matter(file: Path, gone: int) -> None:
    beside(file, gone).symlink_to(file)
    os.utime(beside(file, gone), (0, 0), follow_symlinks=False)
    remove_left(file)
    assert beside(file, gone).is_symlink()
    beside(file, gone).unlink()
    beside(file, gone).mkdir()
    remove_left(file)
    assert beside(file, gone).is_dir()
    remove_left(file.parent / "absent" / "stats.json")
