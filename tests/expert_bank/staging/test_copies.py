"""Many copies at a time: the bytes of a loop, or a refusal with nothing copied."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from expert_bank.staging.batched import (
    BatchedCopy,
    CopyRefusedError,
    grouped,
    one_by_one,
)
from expert_bank.staging.copies import Copies, NotApart

ROOM = 4096
SIZES = st.lists(st.integers(0, 300), max_size=12)
RANGES = st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90), st.integers(0, 12)), max_size=8)
Memory = NDArray[np.uint8]


def copies(memory: Memory, asked: Sequence[tuple[int, int, int]]) -> Copies:
    """Of places within an array: to, source, size."""
    found = np.array(asked, np.int64).reshape(-1, 3)
    base = memory.ctypes.data
    return Copies(base + found[:, 0], base + found[:, 1], found[:, 2].copy())


def memory(seed: int = 1) -> Memory:
    return np.random.default_rng(seed).integers(0, 256, 2 * ROOM, np.uint8)


def laid(sizes: Sequence[int], seed: int) -> list[tuple[int, int, int]]:
    """Lay ranges of these sizes out, apart, in both halves, in an order of their own each."""
    order, places = np.random.default_rng(seed), []
    for start in (0, ROOM):
        found, at = {}, start
        for index in order.permutation(len(sizes)).tolist():
            found[index] = at
            at += sizes[index] + int(order.integers(0, 3))
        places.append(found)
    return [(places[0][i], places[1][i], size) for i, size in enumerate(sizes)]


def looped(before: Memory, asked: Sequence[tuple[int, int, int]]) -> Memory:
    after = before.copy()
    for to, source, size in asked:
        after[to : to + size] = before[source : source + size]
    return after


class Submits:
    """A device's call, on host memory; notes what it was given."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def __call__(
        self, source: NDArray[np.int64], to: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> None:
        self.batches.append(sizes.tolist())
        one_by_one(Copies(to, source, sizes))


@given(SIZES, st.integers(0, 9))
def test_a_loop_and_a_batch_copy_the_same(sizes: list[int], seed: int) -> None:
    asked = laid(sizes, seed)
    wanted = looped(memory(seed), asked)
    for copy in (one_by_one, BatchedCopy(Submits(), lambda: False)):
        held = memory(seed)
        assert copy(copies(held, asked)) == sum(sizes)
        assert held.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("sizes", [[], [0], [0, 0], [1], [17]])
def test_none_one_and_empty_rows(sizes: list[int]) -> None:
    submits = Submits()
    held, asked = memory(), laid(sizes, 0)
    assert BatchedCopy(submits, lambda: False)(copies(held, asked)) == sum(sizes)
    assert held.tobytes() == looped(memory(), asked).tobytes()
    # What has no bytes is in no batch: a driver refuses it.
    assert [size for batch in submits.batches for size in batch] == [s for s in sizes if s]


@given(RANGES)
def test_ranges_that_meet_are_refused_and_nothing_is_copied(
    asked: list[tuple[int, int, int]],
) -> None:
    held = memory()
    before = held.tobytes()
    spans = [(set(range(t, t + n)), set(range(s, s + n))) for t, s, n in asked]
    meets = any(
        spans[one][0] & (spans[other][1] if one == other else spans[other][0] | spans[other][1])
        for one in range(len(spans))
        for other in range(len(spans))
    )
    for copy in (one_by_one, BatchedCopy(Submits(), lambda: False)):
        if meets:
            with pytest.raises(NotApart, match=r"bytes at 0x"):
                copy(copies(held, asked))
            assert held.tobytes() == before
        else:
            copy(copies(held, asked))
            assert held.tobytes() == looped(memory(), asked).tobytes()
            held = memory()


def test_a_row_onto_itself_is_refused() -> None:
    with pytest.raises(NotApart, match="is copied while"):
        one_by_one(copies(memory(), [(5, 5, 8)]))


def test_small_entries_make_no_large_batch_wait() -> None:
    sizes = np.array([70_000, 16, 65_536, 65_537, 1, 0, 90_000], np.int64)
    many = Copies(sizes + 1, sizes + 1, sizes)
    found = [each.sizes.tolist() for each in grouped(many)]
    assert found == [[70_000, 65_537, 90_000], [16, 65_536, 1]]
    assert [len(each) for each in grouped(many, most=2)] == [2, 1, 2, 1]


def test_a_captured_batch_is_refused_and_nothing_is_copied() -> None:
    submits = Submits()
    batched = BatchedCopy(submits, lambda: True)
    with pytest.raises(CopyRefusedError, match="2 copies were asked for while a graph is captured"):
        batched(copies(memory(), laid([3, 4], 0)))
    assert (submits.batches, batched.bytes, batched.calls) == ([], 0, 0)


def test_an_error_of_the_driver_is_raised_and_nothing_counted() -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("cuMemcpyBatchAsync: 999")

    batched = BatchedCopy(fails, lambda: False)
    with pytest.raises(RuntimeError, match="999"):
        batched(copies(memory(), laid([3], 0)))
    assert batched.bytes == 0


@pytest.mark.parametrize(
    ("to", "source", "sizes", "told"),
    [
        ([1], [2, 3], [4], "1 destinations, 2 sources, 1 sizes"),
        ([0], [2], [4], "a destination is no address: 0"),
        ([1], [-2], [4], "a source is no address: -2"),
        ([1], [2], [-4], "-4 bytes"),
    ],
)
def test_no_addresses_are_refused(
    to: list[int], source: list[int], sizes: list[int], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        Copies(*(np.array(each, np.int64) for each in (to, source, sizes)))
