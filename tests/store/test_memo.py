"""Results kept in the store: whole or not there, and never more than there is room for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lanewright.places import Places
from lanewright.store import memo as memo_module
from lanewright.store.locking import writing
from lanewright.store.memo import Memo

KEY, OTHER = "a" * 64, "b" * 64
WRITING = """\
import sys
from pathlib import Path
from lanewright.store.memo import Memo
while True:
    Memo(Path(sys.argv[1])).write(sys.argv[2], sys.argv[3].encode() * 10000)
"""


@pytest.fixture
def memo(tmp_path: Path) -> Memo:
    return Memo(tmp_path / "known")


def test_what_was_kept_is_found(memo: Memo) -> None:
    assert memo.read(KEY) is None
    memo.write(KEY, b"one")
    assert memo.read(KEY) == b"one"
    assert memo.read(OTHER) is None


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 40])
def test_what_is_damaged_is_not_there(memo: Memo, damage: bytes) -> None:
    memo.write(KEY, b"one")
    (memo.folder / KEY).write_bytes(damage)
    assert memo.read(KEY) is None
    memo.write(KEY, b"one")
    assert memo.read(KEY) == b"one"


def test_any_byte_that_flips_is_seen(memo: Memo) -> None:
    memo.write(KEY, b"one")
    whole = (memo.folder / KEY).read_bytes()
    for at in range(len(whole)):
        flipped = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        (memo.folder / KEY).write_bytes(flipped)
        assert memo.read(KEY) is None


def test_one_that_lies_under_another_name_is_not_taken(memo: Memo) -> None:
    memo.write(KEY, b"one")
    (memo.folder / KEY).rename(memo.folder / OTHER)
    assert memo.read(OTHER) is None


def test_a_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    memo = Memo(tmp_path / "file")
    memo.write(KEY, b"one")
    memo.prune()
    assert memo.read(KEY) is None


def test_those_not_asked_for_go_first(memo: Memo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo_module, "MOST_FILES", 2)
    for number, name in enumerate("abc"):
        memo.write(name * 64, b"one")
        os.utime(memo.folder / (name * 64), (number, number))
    assert memo.read(KEY) == b"one"
    memo.prune()
    assert sorted(path.name[0] for path in memo.folder.glob("*") if path.is_file()) == ["a", "c"]


def test_the_room_is_bounded(memo: Memo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo_module, "MOST_BYTES", 250)
    monkeypatch.setattr(memo_module, "MOST_OF_ONE", 100)
    for name in "abcd":
        memo.write(name * 64, name.encode() * 60)
    memo.write("e" * 64, b"e" * 101)
    memo.prune()
    assert len([path for path in memo.folder.iterdir() if path.is_file()]) == 2
    assert memo.read("e" * 64) is None


def test_two_writers_and_kills_leave_whole_ones(memo: Memo) -> None:
    places = Places(memo.folder.parent, memo.folder.parent / "state")
    for _ in range(3):
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITING, str(memo.folder), KEY, each])
            for each in "xy"
        ]
        while memo.read(KEY) is None:
            assert all(each.poll() is None for each in writers)
        assert memo.read(KEY) in {b"x" * 10000, b"y" * 10000}
        for each in writers:
            each.kill()
            each.wait()
        assert memo.read(KEY) in {b"x" * 10000, b"y" * 10000}
        with writing(places):
            assert list(memo.making.iterdir()) == []
