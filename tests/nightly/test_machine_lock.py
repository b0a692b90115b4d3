"""A machine's lock and flock(1) keep each other out, whatever is locked and whosever it is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lanewright.errors import HardwareError, LanewrightError
from lanewright.nightly.machine_lock import machine_locked
from tests.nightly.locks import in_others_hands, is_free

NOBODY = 65_534


@contextmanager
def ordinary() -> Iterator[None]:
    """Be an ordinary user, to whom modes apply."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that another user may read, and is in: those above it may be closed to them."""
    folder = tmp_path / "here"
    folder.mkdir(mode=0o755)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("kind", ["absent", "file", "folder"])
def test_each_keeps_the_other_out(here: Path, kind: str) -> None:
    lock = here / "lock"
    if kind == "folder":
        lock.mkdir()
    if kind == "file":
        lock.write_text("theirs")
    with machine_locked(lock):
        assert not is_free(lock)
    assert is_free(lock)
    with in_others_hands(lock), pytest.raises(HardwareError) as refused, machine_locked(lock):
        pass
    assert str(refused.value) == f"in use: {lock} is locked by another"
    # Others lock it by its name.
    assert lock.exists()
    assert kind != "file" or lock.read_text() == "theirs"


def test_a_file_of_another_is_locked_by_whoever_may_read_it(here: Path) -> None:
    lock = here / "lock"
    lock.touch()
    lock.chmod(0o444)
    with ordinary(), machine_locked(Path("lock")):
        with pytest.raises(PermissionError):
            os.open("lock", os.O_RDWR)
        assert not is_free(Path("lock"))
    with in_others_hands(lock), ordinary(), pytest.raises(HardwareError):
        machine_locked(Path("lock")).__enter__()


def test_what_cannot_be_opened_or_made_is_told(here: Path) -> None:
    (here / "closed").touch()
    (here / "closed").chmod(0o000)
    here.chmod(0o555)
    for name in ("closed", "new"):
        with ordinary(), pytest.raises(LanewrightError) as refused:
            machine_locked(Path(name)).__enter__()
        assert type(refused.value) is LanewrightError
        assert str(refused.value) == f"[window] lock: {name} cannot be locked: Permission denied"
        assert "that whoever spends the night may read" in (refused.value.hint or "")
    for name, why in (
        ("gone/lock", "No such file or directory"),
        ("closed/lock", "Not a directory"),
        ("a\0b", "embedded null byte"),
    ):
        with pytest.raises(LanewrightError, match=f"cannot be locked: {why}"):
            machine_locked(here / name).__enter__()
    here.chmod(0o755)
    assert [each.name for each in here.iterdir()] == ["closed"]


def test_a_pipe_is_not_waited_for(here: Path) -> None:
    os.mkfifo(here / "lock", 0o444)
    with ordinary(), machine_locked(Path("lock")):
        assert os.geteuid()
