"""Bytes that are kept while their memory is gone, all of them or none."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.kept_bytes import KeptBytes, Move
from expert_bank.pages import HostPages, page_bytes
from expert_bank.ranges import Range, without
from expert_bank.refused import Refused
from expert_bank.registration import Registration
from tests.expert_bank.children import in_child
from tests.expert_bank.going_memory import GoingMemory, moved

PAGE = page_bytes()
INVALID = 1


class Host:
    """Host memory and a device that knows it.

    Attributes:
        pages: All that was mapped.
        known: What the device knows: length by address.
        status: Of a registration.
    """

    def __init__(self, status: int = 0) -> None:
        self.pages: list[HostPages] = []
        self.known: dict[int, int] = {}
        self.status = status

    def map(self, length: int) -> HostPages:
        self.pages.append(HostPages(length))
        return self.pages[-1]

    def pin(self, pages: HostPages) -> Registration:
        def register(address: int, length: int) -> int:
            if not self.status:
                self.known[address] = length
            return self.status

        def unregister(address: int) -> int:
            return 0 if self.known.pop(address, None) else INVALID

        return Registration(pages, register=register, unregister=unregister)

    def require_nothing_kept(self) -> None:
        assert not self.known
        assert all(each.closed for each in self.pages)


@contextmanager
def going(*sizes: int) -> Iterator[list[GoingMemory]]:
    """Memories of so many pages, each byte another than its neighbours."""
    made = [GoingMemory(each) for each in sizes]
    for number, each in enumerate(made):
        each.write(
            bytes(1 + (number + at) % 251 for at in range(PAGE)) * (each.place.length // PAGE)
        )
    yield made
    for each in made:
        each.close()


def kept(ranges: list[Range], host: Host, move: Move = moved) -> KeptBytes:
    return KeptBytes(ranges, memory=host.map, pin=host.pin, move=move)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=5),
)
def test_what_is_kept_is_back_where_it_was_and_nothing_else_is(
    sizes: list[int], cuts: list[tuple[float, float]]
) -> None:
    host = Host()
    with going(*sizes) as memories:
        whole = [each.place for each in memories]
        low, high = min(whole).start, max(whole).end
        holes = [Range(*sorted(low + int(side * (high - low)) for side in pair)) for pair in cuts]
        left = without(whole, holes)
        before = [each.held for each in memories]
        held = kept(left, host)
        assert held.size == sum(each.length for each in left)
        assert [each.asked for each in host.pages] == ([held.size] if held.size else [])
        assert sum(host.known.values()) >= held.size
        for each in memories:
            each.go()
            each.come()
        held.put_back()
        for each, was in zip(memories, before, strict=True):
            expected = bytearray(each.place.length)
            for part in left:
                if each.place.start <= part.start < each.place.end:
                    inside = slice(part.start - each.place.start, part.end - each.place.start)
                    expected[inside] = was[inside]
            assert each.held == expected
        held.put_back()
        held.close()
        held.close()
    host.require_nothing_kept()


def test_memory_that_is_gone_cannot_be_read() -> None:
    with going(1) as (memory,):
        assert in_child(lambda: memory.held) == 0
        memory.go()
        assert in_child(lambda: memory.held) == -signal.SIGSEGV


@pytest.mark.parametrize("at", range(3))
def test_a_copy_that_fails_leaves_nothing_kept(at: int) -> None:
    host, done = Host(), list[int]()

    def fails(to: int, source: int, length: int) -> None:
        if len(done) == at:
            raise RuntimeError("an illegal memory access was encountered")
        done.append(length)
        moved(to, source, length)

    with going(1, 1, 2) as memories:
        before = [each.held for each in memories]
        with pytest.raises(RuntimeError, match="illegal memory access"):
            kept([each.place for each in memories], host, fails)
        assert [each.held for each in memories] == before
    assert len(done) == at
    assert len(host.pages) == 1
    host.require_nothing_kept()


def test_memory_that_the_device_does_not_take_is_given_back() -> None:
    host, copied = Host(status=INVALID), list[int]()
    with going(1) as (memory,), pytest.raises(Refused, match="status 1"):
        kept([memory.place], host, lambda *_: copied.append(1))
    assert copied == []
    assert len(host.pages) == 1
    host.require_nothing_kept()


def test_nothing_to_keep_takes_nothing() -> None:
    host = Host()
    held = kept([], host)
    held.put_back()
    held.close()
    assert (held.size, host.pages) == (0, [])


def test_a_copy_back_that_fails_can_be_made_again() -> None:
    host = Host()
    failing: list[Callable[[], None]] = []

    def move(to: int, source: int, length: int) -> None:
        for fail in failing:
            fail()
        moved(to, source, length)

    def fail() -> None:
        raise OSError("no")

    with going(2) as (memory,):
        before = memory.held
        held = kept([memory.place], host, move)
        memory.go()
        memory.come()
        failing.append(fail)
        with pytest.raises(OSError, match="no"):
            held.put_back()
        failing.clear()
        held.put_back()
        assert memory.held == before
        held.close()
    host.require_nothing_kept()
