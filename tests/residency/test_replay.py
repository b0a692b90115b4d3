"""A policy driven over a trace."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from expert_bank.refused import Refused
from expert_bank.swaps import Swap
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.replay import replay
from lanewright.residency.trace import counted
from tests.residency import traffic

BOOT = np.arange(64)[None].repeat(2, 0) < 49
ROWS = (49, 49)
SIZES = (10, 100)


@dataclass
class Greedy:
    """Swaps the most picked cold expert of each layer for the least picked hot one."""

    seen: list[tuple[NDArray[np.int64], list[NDArray[np.bool_]], int]] = field(default_factory=list)

    def step(
        self, counts: NDArray[np.int64], hot: Sequence[NDArray[np.bool_]], budget_bytes: int
    ) -> list[Swap]:
        self.seen.append((counts, [layer.copy() for layer in hot], budget_bytes))
        swaps = []
        for layer, (picks, now) in enumerate(zip(counts, hot, strict=True)):
            best = int(np.where(now, -1, picks).argmax())
            worst = int(np.where(now, picks, 2**62).argmin())
            if picks[best] > picks[worst]:
                swaps.append(Swap(layer, best, worst))
        return swaps


@dataclass
class Told:
    """Swaps what it was told, once."""

    swaps: list[Swap]

    def step(self, counts: Any, hot: Any, budget_bytes: int) -> list[Swap]:  # noqa: ANN401 - unused
        del counts, hot, budget_bytes
        swaps, self.swaps = self.swaps, []
        return swaps


def test_a_policy_sees_what_was_picked_since_and_the_map_as_it_is() -> None:
    ids = traffic.matched(1000, 2, 64, 4)
    policy = Greedy()
    done = replay(policy, ids, BOOT, every=300, rows=ROWS, row_bytes=SIZES, budget_bytes=10**6)
    assert len(policy.seen) == len(done.swaps) == 3
    hot = BOOT.copy()
    for number, (counts, now, budget) in enumerate(policy.seen):
        start = 300 * number
        assert (counts == counted(ids[start : start + 300], 64)).all()
        assert (np.array(now) == hot).all()
        assert budget == 10**6
        for swap in done.swaps[number]:
            for expert, is_hot in ((swap.promote, True), (swap.demote, False)):
                assert expert is not None
                hot[swap.layer, expert] = is_hot
    assert (done.hot == hot).all()
    assert (hot != BOOT).any()
    assert ((np.arange(64) < 49) == BOOT).all()


def test_barriers_may_be_listed_and_one_may_come_behind_the_end() -> None:
    ids = traffic.matched(1000, 2, 64, 4)
    every, listed = (
        replay(Greedy(), ids, BOOT, every=each, rows=ROWS, row_bytes=SIZES)
        for each in (300, [300, 600, 900])
    )
    assert (every.cold == listed.cold).all()
    assert every.swaps == listed.swaps
    policy = Greedy()
    done = replay(policy, ids, BOOT, every=[1, 999, 1000], rows=ROWS, row_bytes=SIZES)
    assert [int(counts.sum()) for counts, *_ in policy.seen] == [8, 998 * 8, 8]
    assert len(done.swaps) == 3
    assert (done.cold[1:999] != fixed_cold(ids[1:999], BOOT)).any()


@pytest.mark.parametrize("barriers", [[0], [300, 300], [600, 300], [1001], 0, -1])
def test_barriers_that_are_none_are_refused(barriers: int | list[int]) -> None:
    ids = traffic.matched(1000, 2, 64, 4)
    with pytest.raises(ValueError, match="barriers"):
        replay(Greedy(), ids, BOOT, every=barriers, rows=ROWS, row_bytes=SIZES)


def test_picks_behind_a_barrier_are_served_by_the_new_map() -> None:
    ids = traffic.matched(1000, 2, 64, 4)
    done = replay(Greedy(), ids, BOOT, every=300, rows=ROWS, row_bytes=SIZES)
    assert (done.cold[:300] == fixed_cold(ids[:300], BOOT)).all()
    assert (done.cold[900:] == fixed_cold(ids[900:], done.hot)).all()
    assert done.cold.dtype == np.int64


def test_a_map_that_moves_gets_near_the_oracle_after_a_switch() -> None:
    ids = traffic.switch(6000, 2, 64, 4, at=2000)
    first = oracle_map(counted(ids[:2000], 64), ROWS)
    done = replay(Greedy(), ids, first, every=128, rows=ROWS, row_bytes=SIZES)
    late = ids[-1000:]
    best = fixed_cold(late, oracle_map(counted(late, 64), ROWS)).sum()
    moved = done.cold[-1000:].sum()
    stood = fixed_cold(late, first).sum()
    assert best < moved < 1.6 * best < 2 * best < stood


def test_no_policy_that_does_nothing_moves_the_map() -> None:
    ids = traffic.uniform(500, 2, 64, 4)
    done = replay(Told([]), ids, BOOT, every=7, rows=ROWS, row_bytes=SIZES)
    assert (done.hot == BOOT).all()
    assert (done.cold == fixed_cold(ids, BOOT)).all()
    assert (len(done.swaps), set(done.swaps), set(done.bytes)) == (71, {()}, {0})


@pytest.mark.parametrize(
    ("mirror", "budget", "made", "size"),
    [
        (True, 2**63, 4, 220),
        (False, 2**63, 4, 430),  # a free row takes one copy wherever the bank is
        (True, 0, 0, 0),
        (True, 1, 1, 10),  # the swap that runs past the budget is the last
        (True, 11, 2, 110),
        (False, 20, 1, 20),
        (False, 21, 2, 220),
    ],
)
def test_bytes_and_the_budget(mirror: bool, budget: int, made: int, size: int) -> None:  # noqa: FBT001
    boot = BOOT.copy()
    boot[:, 0] = False
    asked = [Swap(0, 60, 1), Swap(1, 60, 1), Swap(0, 0, None), Swap(1, 61, 2)]
    done = replay(
        Told(asked),
        traffic.uniform(10, 2, 64, 4),
        boot,
        every=8,
        rows=ROWS,
        row_bytes=SIZES,
        mirror=mirror,
        budget_bytes=budget,
    )
    assert done.swaps == (tuple(asked[:made]),)
    assert (done.bytes, done.cut) == ((size,), 4 - made)


@pytest.mark.parametrize(
    ("swap", "error", "why"),
    [
        (Swap(0, 3, 4), Refused, "expert 3 is hot already"),
        (Swap(2, 60, 4), Refused, "there are 2 layers"),
        (Swap(0, 60, None), ValueError, "experts are hot, and the layers have"),
    ],
)
def test_a_policy_that_asks_for_what_cannot_be_is_told(
    swap: Swap, error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why):
        replay(
            Told([swap]),
            traffic.uniform(10, 2, 64, 4),
            BOOT,
            every=8,
            rows=ROWS,
            row_bytes=SIZES,
        )


@pytest.mark.parametrize("change", [{"every": 0}, {"budget_bytes": -1}, {"row_bytes": (1,)}])
def test_arguments_that_cannot_be(change: dict[str, Any]) -> None:
    told: dict[str, Any] = {"every": 8, "rows": ROWS, "row_bytes": SIZES, **change}
    with pytest.raises(ValueError, match="barriers every"):
        replay(Told([]), traffic.uniform(10, 2, 64, 4), BOOT, **told)
