"""Who leaves the buffer, and for what."""

import numpy as np
import pytest

from lanewright.residency.infinity.buffer import Buffer

WORTH = np.array([5.0, 1.0, 3.0, 1.0, 9.0, 9.0])
NONE = np.zeros(6, np.bool_)
FIRST, SECOND = slice(0, 3), slice(3, 6)


@pytest.fixture
def buffer() -> Buffer:
    """Four rows: 0, 1 and 2 are there; 3 was prefetched, and arrives after a second."""
    found = Buffer(6, 4)
    found.put(np.array([0, 1, 2]), 0.0)
    found.await_(3, 1.0)
    assert found.room == 0
    return found


def held(buffer: Buffer) -> list[int]:
    return np.flatnonzero(buffer.held).tolist()


def test_a_demand_evicts_what_is_worth_least(buffer: Buffer) -> None:
    assert buffer.make_room(2, WORTH, 1.0) == 2
    assert held(buffer) == [0, 3]
    assert buffer.make_room(2, WORTH, 1.0) == 2
    assert held(buffer) == [0, 3]


def test_what_is_in_use_stays(buffer: Buffer) -> None:
    buffer.use(np.array([1]), FIRST)
    assert buffer.make_room(1, WORTH, 1.0) == 1
    assert held(buffer) == [0, 1, 3]


def test_a_demand_takes_what_is_awaited_last_and_what_is_on_its_way_never(buffer: Buffer) -> None:
    assert buffer.make_room(4, WORTH, 0.5) == 3
    assert (held(buffer), buffer.wasted) == ([3], 0)
    assert buffer.make_room(4, WORTH, 1.0) == 4
    assert (held(buffer), buffer.wasted) == ([], 1)


def test_a_prefetch_takes_nothing_that_is_awaited_or_spared(buffer: Buffer) -> None:
    spared = NONE.copy()
    spared[1] = True
    assert buffer.make_place(WORTH, 1.0, spared)
    assert held(buffer) == [0, 1, 3]
    # There is a place now, and nobody has to go.
    assert buffer.make_place(WORTH, 1.0, NONE)
    assert held(buffer) == [0, 1, 3]
    buffer.put(4, 0.0)
    buffer.use(np.array([0, 4]), FIRST)
    assert not buffer.make_place(WORTH, 1.0, spared)


def test_what_its_own_layer_did_not_pick_is_awaited_no_more(buffer: Buffer) -> None:
    buffer.use(np.array([4]), SECOND)
    assert buffer.unused[3]
    assert buffer.make_place(np.where(np.arange(6) == 3, 0.0, 1.0), 1.0, NONE)
    assert (held(buffer), buffer.wasted) == ([0, 1, 2], 1)


def test_what_was_picked_once_is_not_wasted(buffer: Buffer) -> None:
    buffer.use(np.array([3]), SECOND)
    buffer.in_use[:] = False
    assert buffer.make_room(4, WORTH, 1.0) == 4
    assert buffer.wasted == 0
