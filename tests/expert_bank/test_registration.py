"""Registration in pieces, all or none, against a device with limits of its own."""

import gc
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank import system_calls
from expert_bank.memlock import Memlock
from expert_bank.pages import HostPages, page_bytes
from expert_bank.refused import Refused
from expert_bank.registration import CHUNK, Registration, chunks

PAGE = page_bytes()
GIB = 2**30
INVALID, OUT_OF_MEMORY, OS_CALL = 1, 2, 304


@dataclass
class Device:
    """Keeps registered ranges as a driver does: no overlap, no range twice, none too large.

    Attributes:
        largest: Bytes of one registration that already fail.
        limit: Bytes that may be registered in all.
        stuck: Addresses that it does not let go.
    """

    largest: int = 512 * GIB
    limit: int = 2**60
    stuck: set[int] = field(default_factory=set)
    ranges: dict[int, int] = field(default_factory=dict)
    calls: int = 0

    def register(self, address: int, length: int) -> int:
        """Take a range; a status."""
        self.calls += 1
        ends = [(start, start + each) for start, each in self.ranges.items()]
        if length >= self.largest or any(
            start < address + length and address < end for start, end in ends
        ):
            return INVALID
        if sum(self.ranges.values()) + length > self.limit:
            return OS_CALL
        self.ranges[address] = length
        return 0

    def unregister(self, address: int) -> int:
        """Let a range go; a status."""
        if address in self.stuck:
            return OUT_OF_MEMORY
        return 0 if self.ranges.pop(address, None) else INVALID


def registered(
    pages: HostPages, device: Device, *, most: int = CHUNK, memlock: Memlock | None = None
) -> Registration:
    """Register a mapping with a device."""
    return Registration(
        pages,
        register=device.register,
        unregister=device.unregister,
        most=most,
        limit=lambda: memlock or Memlock(None, 0, 0),
    )


@given(
    st.integers(0, 1000),
    st.integers(0, 300),
    st.integers(1, 40),
    st.sampled_from([4096, 16384, 65536]),
    st.integers(0, 4095),
)
def test_pieces_are_all_of_it_in_pages(
    first: int, count: int, most: int, page: int, more: int
) -> None:
    found = list(chunks(first * page, count * page, page=page, most=most * page + more))
    at = first * page
    for start, length in found:
        assert start == at
        assert length % page == 0
        assert 0 < length <= most * page + more
        at += length
    assert at == (first + count) * page
    assert all(length == most * page for _, length in found[:-1])


@pytest.mark.parametrize(
    ("address", "length", "most"),
    [(1, PAGE, PAGE), (0, PAGE + 1, PAGE), (0, PAGE, PAGE - 1), (0, PAGE, 0)],
)
def test_what_is_not_pages_is_refused(address: int, length: int, most: int) -> None:
    with pytest.raises(ValueError, match="are not pages"):
        list(chunks(address, length, page=PAGE, most=most))


def test_600_gib_are_registered_where_one_registration_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Address space alone: no test machine can promise that much memory.
    monkeypatch.setattr(system_calls, "make_usable", lambda *_: None)
    pages, device = HostPages(600 * GIB + 1), Device()
    with pytest.raises(Refused, match=r"does not take 600\.00 GiB .* status 1, with 0 B of 600"):
        registered(pages, device, most=2**50)
    registration = registered(pages, device)
    assert [length for _, length in registration.chunks] == [64 * GIB] * 9 + [24 * GIB + PAGE]
    assert sum(device.ranges.values()) == pages.size
    registration.close()
    assert not device.ranges


def test_a_failure_leaves_nothing_registered() -> None:
    pages, device = HostPages(10 * PAGE), Device(limit=7 * PAGE)
    with pytest.raises(Refused) as refused:
        registered(pages, device, most=2 * PAGE)
    assert f"at {pages.address + 6 * PAGE:#x}: status 304, with " in str(refused.value)
    assert device.calls == 4
    assert not device.ranges
    pages.close()


@pytest.mark.parametrize("failing", range(5))
def test_a_call_that_raises_leaves_nothing_registered(failing: int) -> None:
    pages, device = HostPages(5 * PAGE), Device()

    def register(address: int, length: int) -> int:
        if device.calls == failing:
            raise OSError("the driver is gone")
        return device.register(address, length)

    with pytest.raises(OSError, match="the driver is gone"):
        Registration(pages, register=register, unregister=device.unregister, most=PAGE)
    assert device.calls == failing
    assert not device.ranges
    pages.close()


def test_the_limit_is_told_where_it_is_why() -> None:
    pages, device = HostPages(10 * PAGE), Device(limit=4 * PAGE)
    with pytest.raises(Refused, match=r"RLIMIT_MEMLOCK.*\n.*--ulimit memlock=-1"):
        registered(pages, device, most=PAGE, memlock=Memlock(9 * PAGE, 0, 0))
    assert not device.ranges
    with pytest.raises(Refused, match="status 304"):
        registered(pages, device, most=PAGE, memlock=Memlock(10 * PAGE, 0, 0))


@pytest.mark.parametrize("status", [304, 800])
def test_pages_that_linux_would_not_lock_name_the_containers_flags(status: int) -> None:
    pages = HostPages(PAGE)
    with pytest.raises(Refused) as refused:
        Registration(
            pages,
            register=lambda *_: status,
            unregister=lambda _: INVALID,
            limit=lambda: Memlock(None, 0, 0),
        )
    assert refused.value.hint == (
        "start the container with --ulimit memlock=-1 and --cap-add IPC_LOCK"
    )


def test_a_limit_that_does_not_hold_is_no_reason_to_refuse() -> None:
    pages, device = HostPages(10 * PAGE), Device()
    registered(pages, device, memlock=Memlock(PAGE, 0, 0)).close()
    assert not device.ranges


def test_what_could_not_be_undone_is_told() -> None:
    pages, device = HostPages(4 * PAGE), Device(limit=3 * PAGE)
    device.stuck.add(pages.address + PAGE)
    with pytest.raises(Refused) as refused:
        registered(pages, device, most=PAGE)
    assert device.ranges == {pages.address + PAGE: PAGE}
    (note,) = refused.value.__notes__
    assert f"at {pages.address + PAGE:#x} is still registered: status 2" in note


def test_registered_memory_is_not_given_back() -> None:
    pages, device = HostPages(4 * PAGE), Device()
    registration = registered(pages, device, most=PAGE)
    gc.collect()
    with pytest.raises(BufferError):
        pages.close()
    registration.close()
    registration.close()
    pages.close()
    assert pages.closed
    assert not device.ranges


def test_a_close_that_failed_can_be_tried_again() -> None:
    pages, device = HostPages(4 * PAGE), Device()
    registration = registered(pages, device, most=PAGE)
    device.stuck.add(pages.address + 2 * PAGE)
    with pytest.raises(Refused, match=f"{pages.address + 2 * PAGE:#x} is still registered"):
        registration.close()
    assert registration.chunks == [(pages.address + 2 * PAGE, PAGE)]
    with pytest.raises(BufferError):
        pages.close()
    device.stuck.clear()
    registration.close()
    pages.close()
    assert not device.ranges


def mapped(address: int) -> bool:
    """Whether something is mapped there."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    spans = (each.split()[0].split("-") for each in lines)
    return any(int(start, 16) <= address < int(end, 16) for start, end in spans)


def require_kept(only: list[HostPages], device: Device) -> None:
    """Drop the only reference to memory that a device still has: it cannot be closed, and stays mapped."""
    address = only[0].address
    with pytest.raises(BufferError):
        only[0].close()
    only.clear()
    gc.collect()
    assert device.ranges
    assert mapped(address)


def test_what_the_device_still_has_stays_whoever_drops_it() -> None:
    pages, device = HostPages(4 * PAGE), Device()
    registration = registered(pages, device, most=PAGE)
    device.stuck.add(pages.address)
    with pytest.raises(Refused, match="is still registered"):
        registration.close()
    del registration
    gc.collect()
    only = [pages]
    del pages
    require_kept(only, device)


def test_what_could_not_be_undone_stays_whoever_drops_it() -> None:
    pages, device = HostPages(4 * PAGE), Device(limit=3 * PAGE)
    device.stuck.add(pages.address)
    with pytest.raises(Refused):
        registered(pages, device, most=PAGE)
    only = [pages]
    del pages
    require_kept(only, device)


def test_what_the_device_let_go_at_last_is_given_back() -> None:
    pages, device = HostPages(4 * PAGE), Device()
    registration = registered(pages, device)
    device.stuck.add(pages.address)
    with pytest.raises(Refused, match="is still registered"):
        registration.close()
    device.stuck.clear()
    registration.close()
    pages.close()
    assert not mapped(pages.address)
