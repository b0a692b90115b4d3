"""Rows of a file: right whether they are in memory or not, and out of it once given back."""

import ctypes
import gc
import mmap
import signal
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank import file_calls
from expert_bank.cold_file import ColdFile, joined
from expert_bank.disk_reads import read_bytes
from expert_bank.file_pages import FilePages
from expert_bank.memlock import memlock
from expert_bank.pages import page_bytes, whole_pages
from expert_bank.smaps import measure
from tests.expert_bank.children import in_child
from tests.expert_bank.cold_folders import folder, started
from tests.expert_bank.machines import written

__all__ = ["folder"]
PAGE = page_bytes()
ROWS = st.integers(0, 6)
BYTES = st.integers(1, 3 * PAGE)


def pattern(length: int, seed: int = 1) -> bytes:
    """Bytes of which no two pages are alike."""
    return b"".join(
        (seed * 2**32 + number).to_bytes(8, "little") for number in range(-(-length // 8))
    )[:length]


def filled(file: ColdFile, hot: int, cold: int, *, seed: int = 1) -> FilePages:
    """A locked mapping with the pattern from its first row to its last."""
    pages = FilePages(hot, cold, file)
    pages.lock()
    pages.view(pages.lead)[:] = pattern(hot + cold, seed)
    return pages


@given(ROWS, ROWS, BYTES)
def test_rows_of_any_size_are_whole_after_they_were_given_back(
    folder: Path, hot: int, cold: int, row: int
) -> None:
    if not hot + cold:
        return
    file = ColdFile(folder)
    pages = filled(file, hot * row, cold * row)
    assert (pages.address + pages.lead + hot * row) % PAGE == 0
    assert (pages.lead < PAGE, pages.asked) == (True, pages.lead + (hot + cold) * row)
    file.settle()
    assert file.in_memory() == 0
    assert file.size == whole_pages(cold * row, PAGE)
    if pages.held:
        assert file_calls.in_memory(pages.address, pages.held) == pages.held
    assert bytes(pages.view(pages.lead)) == pattern((hot + cold) * row)
    assert file.in_memory() == file.size
    gc.collect()
    pages.close()


def test_several_mappings_share_a_file(folder: Path) -> None:
    file = ColdFile(folder)
    made = [filled(file, 100 * n, 5000 * n, seed=n) for n in range(1, 6)]
    file.settle()
    assert file.size == sum(whole_pages(5000 * n, PAGE) for n in range(1, 6))
    for _ in range(2):
        file.give_back()
        assert file.in_memory() == 0
        for n, pages in enumerate(made, 1):
            assert bytes(pages.view(pages.lead)) == pattern(5100 * n, seed=n)
    assert file.give_backs == 2


def test_hot_rows_are_locked_and_cold_ones_are_not(folder: Path) -> None:
    before, file = memlock().locked, ColdFile(folder)
    pages = filled(file, 10 * PAGE + 1, 20 * PAGE)
    assert memlock().locked - before == pages.held == 11 * PAGE
    assert measure(pages.address, pages.held).resident == 11 * PAGE
    gc.collect()
    pages.close()
    assert memlock().locked == before


def test_a_row_that_is_read_brings_no_other(folder: Path) -> None:
    file, row = ColdFile(folder), 64 * PAGE
    pages = filled(file, 0, 100 * row)
    file.settle()
    assert bytes(pages.view(7 * row, row)) == pattern(100 * row)[7 * row : 8 * row]
    assert file.in_memory() == row
    file.give_back()
    file_calls.advise(pages.address + 9 * row, row, mmap.MADV_WILLNEED)
    assert bytes(pages.view(9 * row, row)) == pattern(100 * row)[9 * row : 10 * row]
    assert file.in_memory() == row


def test_each_step_reads_its_rows_from_the_disk(folder: Path) -> None:
    file, row = ColdFile(folder), 64 * PAGE
    pages = filled(file, 0, 8 * row)
    file.settle()
    before = read_bytes()
    bytes(pages.view(0, row))  # between steps; the next one has it in memory no more
    for _ in range(3):
        with file.step():
            file.ask(pages.address, row)
            bytes(pages.view(0, row))
            bytes(pages.view(0, row))
        assert file.in_memory() == 0
    file.ask(pages.address + row, row)  # between steps; no step's
    bytes(pages.view(row, row))
    told = file.told()
    assert told == {
        "folder": str(folder),
        "bytes": 8 * row,
        "kept": 0,
        "locked": memlock().locked,
        "steps": 3,
        "read": 3 * row,
        "least": 3 * row,
        "give_backs": 7,
    }
    assert file.in_memory() == 0
    assert read_bytes() - before == 5 * row


class _Keeps(ColdFile):
    """Gives nothing back."""

    def give_back(self) -> None:
        self.give_backs += 1


class _KeepsBehind(ColdFile):
    """Gives back as a step begins, and nothing behind it."""

    def give_back(self) -> None:
        self.give_backs += 1
        if self.give_backs % 2:
            super().give_back()
            self.give_backs -= 1


@pytest.mark.parametrize(("kind", "reads"), [(ColdFile, 4), (_Keeps, 1), (_KeepsBehind, 4)])
def test_rows_that_a_step_leaves_behind_or_finds_show(
    folder: Path, kind: type[ColdFile], reads: int
) -> None:
    file, row = kind(folder), 64 * PAGE
    pages = filled(file, 0, 8 * row)
    file.settle()
    for _ in range(4):
        with file.step():
            file.ask(pages.address, row)
            file.ask(pages.address + PAGE, 2 * PAGE)
            bytes(pages.view(0, row))
    assert file.least == 4 * row
    assert reads * row <= file.read < (reads + 1) * row
    assert file.kept == (0 if kind is ColdFile else row)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9))))
def test_joined_ranges_have_each_byte_once(ranges: list[tuple[int, int]]) -> None:
    found = [*joined(ranges)]
    whole = [byte for start, length in found for byte in range(start, start + length)]
    assert whole == sorted(
        {byte for start, length in ranges for byte in range(start, start + length)}
    )
    assert all(ahead + length < start for (ahead, length), (start, _) in pairwise(found))


def test_a_step_that_fails_gives_back_too(folder: Path) -> None:
    file = ColdFile(folder)
    pages = filled(file, 0, 8 * PAGE)
    file.settle()
    with pytest.raises(ValueError, match="not within"), file.step():
        bytes(pages.view()[:1]) and pages.view(9 * PAGE)
    assert (file.in_memory(), file.steps) == (0, 1)


@pytest.mark.parametrize("written_to", [False, True])
def test_what_is_written_while_serving_is_never_lost(folder: Path, written_to: bool) -> None:  # noqa: FBT001 - a table
    file = ColdFile(folder, written=written_to)
    pages = filled(file, 0, 8 * PAGE)
    file.settle()
    for n in range(2, 6):
        pages.view()[:] = pattern(8 * PAGE, seed=n)
        file.give_back()
        # What is not on the disk yet cannot leave memory.
        assert not (written_to and file.in_memory())
        assert bytes(pages.view()) == pattern(8 * PAGE, seed=n)


def test_a_forked_child_has_nothing_of_it(folder: Path) -> None:
    file = ColdFile(folder)
    pages = filled(file, PAGE, PAGE)
    for offset in (0, PAGE):
        read = partial(ctypes.string_at, pages.address + offset, 1)
        assert in_child(read) == -signal.SIGSEGV
    assert bytes(pages.view()) == pattern(2 * PAGE)


KILLED = """\
from pathlib import Path
from expert_bank.cold_file import ColdFile
from expert_bank.file_pages import FilePages
file = ColdFile(Path(sys.argv[1]))
pages = FilePages(0, 2**20, file)
pages.view()[:] = b"x" * 2**20
file.settle()
print(file._number, flush=True)
sys.stdin.read()
"""


def test_a_process_that_is_killed_leaves_no_file(folder: Path) -> None:
    with started(KILLED, folder) as running:
        assert running.stdout
        number = running.stdout.readline().strip()
        link = str(Path(f"/proc/{running.pid}/fd/{number}").readlink())
        assert link.endswith(" (deleted)")
        assert link.startswith(str(folder))
        assert [*folder.iterdir()] == []
        running.kill()
    assert running.returncode == -signal.SIGKILL
    assert [*folder.iterdir()] == []


def test_reads_are_the_kernels_count(tmp_path: Path) -> None:
    assert read_bytes(root=tmp_path) == 0
    text = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 7\n"
    assert read_bytes(root=written(tmp_path, {"proc/self/io": text})) == 4096
