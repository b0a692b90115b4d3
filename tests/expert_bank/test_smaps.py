"""The kernel's count of a mapping, and odd entries of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.refused import Refused
from expert_bank.smaps import Measured, measure, require_exact
from tests.expert_bank.machines import written

ENTRY = "{:x}-{:x} rw-p 00000000 00:00 0 {}\nSize: {} kB\nKernelPageSize: 4 kB\nRss: {} kB\nSwap: {} kB\nVmFlags: rd wr\n"
GIB = 2**30


def told(root: Path, *entries: str) -> Path:
    """A machine with these entries."""
    return written(root, {"proc/self/smaps": "".join(entries)})


def test_what_lies_within_is_summed(tmp_path: Path) -> None:
    root = told(
        tmp_path,
        ENTRY.format(0x1000, 0x2000, "", 4, 4, 0),
        ENTRY.format(0x2000, 0x6000, "", 16, 8, 4),
        ENTRY.format(0x6000, 0x8000, "[heap]", 8, 4, 0),
        ENTRY.format(0x8000, 0x9000, "", 4, 4, 0),
    )
    assert measure(0x2000, 0x6000, root=root) == Measured(24 * 1024, 12 * 1024, 4 * 1024)


def test_what_only_overlaps_is_not_taken_for_the_mapping(tmp_path: Path) -> None:
    root = told(tmp_path, ENTRY.format(0x1000, 0x9000, "", 32, 32, 0))
    found = measure(0x2000, 0x2000, root=root)
    assert found == Measured(0, 0, 0)
    with pytest.raises(Refused):
        require_exact(found, 0x2000, filled=False)


def test_a_files_name_is_no_entry(tmp_path: Path) -> None:
    name = "/tmp/a\rRss: 900 kB\r2000-3000 rw-p 0 0:0 0 x\x0cSize: 900 kB"  # noqa: S108 - a name
    root = told(tmp_path, ENTRY.format(0x2000, 0x3000, name, 4, 4, 0))
    assert measure(0x2000, 0x1000, root=root) == Measured(4096, 4096, 0)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "2000-3000\nSize: 4 kB\n", "zz-yy rw-p 0\nSize: 4 kB\n"]
)
def test_what_is_no_entry_is_nothing(tmp_path: Path, text: str) -> None:
    assert measure(0x2000, 0x1000, root=told(tmp_path, text)) == Measured(0, 0, 0)


def test_a_kernel_that_does_not_tell_is_named(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="/proc/self/smaps cannot be read"):
        measure(0, 4096, root=tmp_path)


def test_a_power_of_two_is_refused_with_the_arithmetic() -> None:
    asked = int(4.48 * GIB)
    with pytest.raises(Refused) as refused:
        require_exact(Measured(8 * GIB, 8 * GIB, 0), asked, filled=True)
    assert str(refused.value) == (
        "host memory: 4.48 GiB by arithmetic, but 8.00 GiB mapped (1.786 of it) and "
        "8.00 GiB in memory (1.786 of it), 0 B swapped out"
    )


def test_memory_that_is_not_there_is_refused_once_filled() -> None:
    found = Measured(GIB, GIB // 2, GIB // 2)
    require_exact(found, GIB, filled=False)
    with pytest.raises(
        Refused, match=r"512\.00 MiB in memory \(0\.500 of it\), 512\.00 MiB swapped"
    ):
        require_exact(found, GIB, filled=True)


@given(st.integers(1, 2**40), st.integers(0, 2**41), st.booleans())
def test_one_hundredth_is_what_passes(expected: int, found: int, filled: bool) -> None:  # noqa: FBT001 - drawn
    fits = abs(found - expected) <= 0.01 * expected
    try:
        require_exact(Measured(found, found, 0), expected, filled=filled)
    except Refused:
        assert not fits
    else:
        assert fits
