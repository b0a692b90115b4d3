"""LRU and Belady against searches that know no trick."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lanewright.residency.belady import belady_cold, next_picks
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.lru import each_token, lru_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.trace import counted
from tests.residency import traffic

Ids = NDArray[np.int64]
BOTH = pytest.mark.parametrize("cold", [lru_cold, belady_cold])


@st.composite
def cases(draw: st.DrawFn, experts: int = 5) -> tuple[Ids, NDArray[np.bool_], int]:
    """One layer's trace, its hot experts at the start and its rows."""
    picks = draw(st.integers(1, 3))
    tokens = st.lists(st.permutations(range(experts)), min_size=1, max_size=7)
    ids = np.array(draw(tokens))[:, None, :picks]
    rows = draw(st.integers(0, experts))
    first = draw(st.permutations(range(experts)))[: draw(st.integers(0, rows))]
    return ids, np.isin(np.arange(experts), first)[None], rows


def fewest(ids: Ids, boot: NDArray[np.bool_], rows: int) -> int:
    """The fewest cold picks of all ways to fill rows with what is picked, or not to."""
    reached = {frozenset(np.flatnonzero(boot[0]).tolist()): 0}
    for token in ids[:, 0].tolist():
        after: dict[frozenset[int], int] = {}
        for hot, cold in reached.items():
            now = cold + len(set(token) - hot)
            within = hot | set(token)
            for many in range(rows + 1):
                for kept in map(frozenset, combinations(within, many)):
                    after[kept] = min(now, after.get(kept, now))
        reached = after
    return min(reached.values())


@given(cases())
def test_no_way_to_fill_the_rows_has_fewer_cold_picks(case: Any) -> None:  # noqa: ANN401 - drawn
    ids, boot, rows = case
    assert belady_cold(ids, boot, [rows]).sum() == fewest(ids, boot, rows)


def longest_ago(ids: Ids, boot: NDArray[np.bool_], rows: int) -> list[int]:
    """LRU by looking for the oldest."""
    last: dict[int, float] = {e: -1.0 - e for e in np.flatnonzero(boot[0]).tolist()}
    cold = []
    for number, token in enumerate(ids[:, 0].tolist()):
        missing = [expert for expert in token if expert not in last]
        last |= {e: number + slot / 100 for slot, e in enumerate(token) if e in last}
        for slot, expert in enumerate(missing):
            others = {e: when for e, when in last.items() if e not in token}
            if len(last) >= rows and others:
                del last[min(others, key=others.__getitem__)]
            if len(last) < rows:
                last[expert] = number + 0.5 + slot / 100
        cold.append(len(missing))
    return cold


@given(cases(experts=7))
def test_what_was_picked_longest_ago_goes(case: Any) -> None:  # noqa: ANN401 - drawn
    ids, boot, rows = case
    assert lru_cold(ids, boot, [rows])[:, 0].tolist() == longest_ago(ids, boot, rows)


TRACES = {
    "matched": traffic.matched(1500, 1, 24, 3),
    "uniform": traffic.uniform(1500, 1, 24, 3),
    "flip": traffic.domain_flip(1500, 1, 24, 3, period=90),
    "thrash": traffic.thrash(1500, 1, 24, 3, hot=18),
    "tie": traffic.tie(1500, 1, 24, 3),
}


@pytest.mark.parametrize("rows", [3, 12, 13, 17, 18, 23, 24])
@pytest.mark.parametrize("ids", TRACES.values(), ids=TRACES)
def test_gaps_and_tokens_come_to_the_same(ids: Ids, rows: int) -> None:
    for hot in (rows, rows // 2, 0):
        boot = np.arange(24)[None] % 2 * 24 + np.arange(24) < hot
        slowly = each_token(ids[:, 0].tolist(), np.flatnonzero(boot[0]).tolist(), rows)
        assert lru_cold(ids, boot, [rows])[:, 0].tolist() == slowly


@given(cases())
def test_none_is_better_than_belady(case: Any) -> None:  # noqa: ANN401 - drawn
    ids, boot, rows = case
    least = belady_cold(ids, boot, [rows]).sum()
    assert least <= min(lru_cold(ids, boot, [rows]).sum(), fixed_cold(ids, boot).sum())


def test_order_on_traffic_with_favourites() -> None:
    ids = traffic.matched(4000, 2, 64, 4)
    rows = [49, 20]
    boot = np.arange(64) < np.array(rows)[:, None]
    oracle = oracle_map(counted(ids, 64), rows)
    belady, lru = (cold(ids, oracle, rows).sum() for cold in (belady_cold, lru_cold))
    assert belady < fixed_cold(ids, oracle).sum() < lru < fixed_cold(ids, boot).sum()


def test_a_long_trace_of_few_experts_is_as_exact() -> None:
    ids = traffic.uniform(400, 1, 6, 2)  # what is past is swept out some twenty times
    boot = np.arange(6)[None] < 3
    assert belady_cold(ids, boot, [3]).sum() == fewest(ids, boot, 3)


@BOTH
def test_layers_are_served_apart(cold: Any) -> None:  # noqa: ANN401 - a policy
    ids = traffic.matched(300, 3, 16, 2)
    boot = np.arange(16) < np.array([[5], [0], [16]])
    rows = [7, 4, 16]
    whole = cold(ids, boot, rows)
    for layer in range(3):
        alone = cold(ids[:, layer : layer + 1], boot[layer : layer + 1], rows[layer : layer + 1])
        assert (whole[:, layer] == alone[:, 0]).all()
    assert not whole[:, 2].any()


@BOTH
def test_no_rows_make_every_pick_cold(cold: Any) -> None:  # noqa: ANN401 - a policy
    ids = traffic.matched(50, 1, 8, 3)
    assert (cold(ids, np.zeros((1, 8), bool), [0]) == 3).all()


def test_picks_of_one_token_do_not_evict_one_another() -> None:
    ids = np.array([[[0, 1, 2]]] * 3)
    boot = np.zeros((1, 4), bool)
    for rows, after in ((3, 0), (2, 1), (1, 2)):
        for cold in (lru_cold, belady_cold):
            assert cold(ids, boot, [rows])[:, 0].tolist() == [3, after, after]


def test_next_picks_of_a_layer() -> None:
    following, first = next_picks(np.array([[0, 1], [2, 0], [1, 2]]), 4)
    assert following.tolist() == [[1, 2], [2, 3], [3, 3]]
    assert first.tolist() == [0, 0, 1, 3]


@BOTH
@pytest.mark.parametrize(
    ("boot", "rows", "why"),
    [
        ([[1, 1, 0]], [1], r"\[2\] experts are hot, and the layers have \[1\] rows"),
        ([[1, 1, 0]], [2, 2], "2 rows and 1 maps for 1 layers"),
        ([[1, 0]], [1], "ids are 0 to 2, and must be 0 to 1"),
    ],
)
def test_what_does_not_go_together_is_refused(cold: Any, boot: Any, rows: Any, why: str) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match=why):
        cold(np.array([[[0, 1]], [[2, 1]]]), np.array(boot, bool), rows)
