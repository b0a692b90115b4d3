"""The kernel's texts, and odd ones."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.proc import LARGEST, number_of, numbers_in, sizes_of, text_of
from expert_bank.refused import Refused


def test_sizes_are_bytes() -> None:
    text = "MemFree:        12 kB\nVmLck:\t       3 kB\nNode 1 Active(file):  4 kB\nHugePages_Total: 5\n"
    assert sizes_of(text) == {"MemFree": 12288, "VmLck": 3072, "Active(file)": 4096}


@pytest.mark.parametrize(
    "text",
    ["MemFree: -1 kB", "MemFree: 1 MB", "MemFree: ² kB", "x MemFree: 1 kB", "MemFree: kB", ""],
)
def test_what_is_no_size_is_left_out(text: str) -> None:
    assert sizes_of(text) == {}


def test_this_kernels_memory_is_read() -> None:
    found = sizes_of(Path("/proc/meminfo").read_text())
    assert 0 < found["MemFree"] <= found["MemTotal"]


def test_a_carriage_return_ends_no_line(tmp_path: Path) -> None:
    file = tmp_path / "maps"
    file.write_bytes(b"a\rMemFree: 1 kB\n\xff")
    text = text_of(file)
    assert text == "a\rMemFree: 1 kB\n�"
    assert sizes_of(text) == {}


def test_what_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert text_of(tmp_path / "missing") is None
    assert text_of(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("12\n", 12), ("max\n", None), ("-1", None), ("", None), ("1 2", None), ("²", None)],
)
def test_number_of(tmp_path: Path, text: str, number: int | None) -> None:
    (tmp_path / "file").write_text(text)
    assert number_of(tmp_path / "file") == number


@given(st.frozensets(st.integers(0, 2000), max_size=40))
def test_lists_are_read_as_the_kernel_writes_them(numbers: frozenset[int]) -> None:
    parts = []
    for number in sorted(numbers):
        if number - 1 not in numbers:
            last = next(each for each in range(number, 2002) if each + 1 not in numbers)
            parts.append(str(number) if last == number else f"{number}-{last}")
    assert numbers_in(",".join(parts) + "\n") == numbers


@pytest.mark.parametrize(
    "text", ["a", "1-", "-1", "3-1", "0-999999999", "0-99999999999999", "1;2", "٣", "1 2"]
)
def test_a_broken_list_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="the kernel's list"):
        numbers_in(text)


@given(st.text())
def test_any_text_is_a_list_or_refused(text: str) -> None:
    with suppress(Refused):
        assert all(0 <= number < LARGEST for number in numbers_in(text))
