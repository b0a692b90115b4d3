"""Mappings, by the kernel's own count of them."""

import ctypes
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank import pages as pages_module
from expert_bank import system_calls
from expert_bank.libc import LIBC
from expert_bank.pages import HostPages, page_bytes, whole_pages
from expert_bank.refused import Refused
from expert_bank.smaps import measure, require_exact
from tests.expert_bank.children import in_child

PAGE = page_bytes()
GIB = 2**30


def mappings() -> Iterator[tuple[int, int, str]]:
    """Start, end and permissions of all that is mapped."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        where, permissions, *_ = line.split(" ")
        start, end = (int(each, 16) for each in where.split("-"))
        yield start, end, permissions


def permissions(address: int) -> str | None:
    """What is allowed at an address; None where nothing is mapped."""
    return next((each for start, end, each in mappings() if start <= address < end), None)


def put(address: int) -> None:
    """Map a page of one's own at an address, in place of what is there."""
    usable, private_anonymous_fixed = 3, 0x32
    found = LIBC.mmap(address, PAGE, usable, private_anonymous_fixed, -1, 0)
    assert found == address
    ctypes.memmove(address, b"own", 3)


@pytest.fixture
def pages() -> Iterator[HostPages]:
    """Three pages and a byte."""
    found = HostPages(3 * PAGE + 1)
    yield found
    gc.collect()
    found.close()


@given(st.integers(1, 2**48), st.sampled_from([4096, 16384, 65536]))
def test_a_request_is_rounded_up_to_one_page(length: int, page: int) -> None:
    found = whole_pages(length, page)
    assert found % page == 0
    assert 0 <= found - length < page


@pytest.mark.parametrize("length", [1, PAGE - 1, PAGE, PAGE + 1, 5 * 2**20 + 1])
def test_a_mapping_has_the_size_asked_for(length: int) -> None:
    pages = HostPages(length)
    assert pages.address % PAGE == 0
    assert (pages.asked, pages.size) == (length, whole_pages(length, PAGE))
    assert measure(pages.address, pages.size).mapped == pages.size
    view = pages.view()
    assert len(view) == length
    assert bytes(view) == bytes(length)
    view[:] = b"\xa5" * length
    found = measure(pages.address, pages.size)
    assert found.resident == pages.size
    require_exact(found, pages.size, filled=True)
    view.release()
    pages.close()


def test_a_mapping_has_a_guard_on_either_side(pages: HostPages) -> None:
    assert permissions(pages.address - 1) == "---p"
    assert permissions(pages.address) == permissions(pages.address + pages.size - 1) == "rw-p"
    assert permissions(pages.address + pages.size) == "---p"


def test_pages_come_at_their_first_touch() -> None:
    pages = HostPages(64 * 2**20)
    assert measure(pages.address, pages.size).resident == 0
    pages.view(32 * 2**20, 1)[0] = 1
    assert 0 < measure(pages.address, pages.size).resident <= 4 * 2**20
    pages.close()


def test_neighbours_are_measured_apart() -> None:
    banks = [HostPages(7 * PAGE) for _ in range(40)]
    for number, bank in enumerate(banks):
        bank.view(0, 1 + number % 7 * PAGE)[::PAGE] = b"x" * (1 + number % 7)
    for number, bank in enumerate(banks):
        found = measure(bank.address, bank.size)
        assert (found.mapped, found.resident) == (7 * PAGE, (1 + number % 7) * PAGE)


TOUCH = """\
import ctypes, sys
sys.path.insert(0, sys.argv[1])
from expert_bank.pages import HostPages
pages = HostPages(3 * int(sys.argv[2]))
ctypes.memset(pages.address + int(sys.argv[3]), 1, 1)
"""


@pytest.mark.parametrize(
    ("offset", "code"),
    [(0, 0), (3 * PAGE - 1, 0), (-1, -signal.SIGSEGV), (3 * PAGE, -signal.SIGSEGV)],
)
def test_a_write_beside_the_mapping_is_caught(offset: int, code: int) -> None:
    overlay = str(Path(pages_module.__file__).parents[1])
    command = [sys.executable, "-c", TOUCH, overlay, str(PAGE), str(offset)]
    assert subprocess.run(command, check=False).returncode == code


def test_a_forked_child_has_nothing_and_harms_nothing(pages: HostPages) -> None:
    view = pages.view()
    view[:4] = b"bank"

    def read() -> None:
        bytes(view[:4])

    def look() -> None:
        with pytest.raises(ValueError, match="before a fork"):
            pages.view()

    assert in_child(read) == -signal.SIGSEGV
    assert in_child(look) == 0
    assert bytes(view[:4]) == b"bank"


def test_a_forked_child_does_not_unmap_what_it_put_there() -> None:
    kept = [HostPages(PAGE)]

    def act() -> None:
        address = kept[0].address
        put(address)
        kept[0].close()
        kept.clear()
        gc.collect()
        assert ctypes.string_at(address, 3) == b"own"

    assert in_child(act) == 0
    assert bytes(kept[0].view()) == bytes(PAGE)


def test_views_keep_the_mapping(pages: HostPages) -> None:
    part = pages.view()[PAGE : PAGE + 4]
    with pytest.raises(BufferError, match=r"1 views of 12\.00 KiB at 0x"):
        pages.close()
    part[:] = b"here"
    other = (ctypes.c_char * 4).from_buffer(part)
    del part
    gc.collect()
    with pytest.raises(BufferError):
        pages.close()
    assert other.raw == b"here"
    del other
    pages.close()
    assert pages.closed


def test_a_view_outlives_the_object() -> None:
    view = HostPages(PAGE).view()
    gc.collect()
    view[:4] = b"here"
    assert bytes(view[:4]) == b"here"


def test_dropping_gives_back() -> None:
    pages = HostPages(PAGE)
    address = pages.address
    assert permissions(address) == "rw-p"
    del pages
    gc.collect()
    assert permissions(address) is None


def test_what_is_closed_is_given_back_once() -> None:
    pages = HostPages(PAGE)
    address = pages.address
    pages.close()
    assert permissions(address) is None
    put(address)
    pages.close()
    del pages
    gc.collect()
    assert ctypes.string_at(address, 3) == b"own"
    system_calls.unmap(address, PAGE)


def test_what_is_closed_shows_nothing() -> None:
    pages = HostPages(1)
    pages.close()
    with pytest.raises(ValueError, match="closed"):
        pages.view()


@pytest.mark.parametrize("length", [0, -1, -PAGE, sys.maxsize, 2**64 + 1])
def test_a_length_that_is_none_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="cannot have"):
        HostPages(length)


@pytest.mark.parametrize("length", [2**46, 2**62])
def test_what_the_system_does_not_give_is_refused(length: int) -> None:
    if length == 2**46 and Path("/proc/sys/vm/overcommit_memory").read_text().strip() == "1":
        pytest.skip("this system promises any amount of memory")
    with pytest.raises(Refused) as refused:
        HostPages(length)
    text = str(refused.value)
    assert text.startswith(f"the system does not give {length / GIB:.2f} GiB of address space: ")
    assert "ulimit -v" in text
    assert all(end - start < length for start, end, _ in mappings())


@given(st.integers(-5, 40), st.integers(-5, 40))
def test_a_view_is_within_what_was_asked_for(offset: int, length: int) -> None:
    pages = HostPages(32)
    if offset >= 0 and length >= 0 and offset + length <= 32:
        view = pages.view(offset, length)
        assert len(view) == length
        view[:] = bytes(range(length))
        assert ctypes.string_at(pages.address + offset, length) == bytes(range(length))
    else:
        with pytest.raises(ValueError, match="are not within 32"):
            pages.view(offset, length)


def test_the_page_is_the_systems() -> None:
    assert os.sysconf("SC_PAGESIZE") == PAGE
    assert whole_pages(int(4.48 * GIB), PAGE) < 4.5 * GIB
