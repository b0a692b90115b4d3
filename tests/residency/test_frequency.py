"""LFU and LFRU against searches that know no trick, and by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lanewright.residency.belady import belady_cold
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.frequency import lfru_cold, lfu_cold
from lanewright.residency.lru import lru_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.trace import counted
from tests.residency import traffic
from tests.residency.test_on_demand import Ids, cases

BOTH = pytest.mark.parametrize("cold", [lfu_cold, lfru_cold])


def slowly(ids: Ids, boot: Any, rows: int, *, lfru: bool) -> list[int]:  # noqa: ANN401 - a map
    """Either by looking at all that is hot: [picks, last, tie] of each."""
    hot = {e: [float(lfru), 0.0, -float(e)] for e in np.flatnonzero(boot[0]).tolist()}
    seen: dict[int, float] = {}
    cold, now = [], 0
    for token in ids[:, 0].tolist():
        missing = [expert for expert in token if expert not in hot]
        for expert in [e for e in token if e in hot] + missing:
            now += 1
            seen[expert] = seen.get(expert, 0.0) + 1
            if expert not in hot:
                others = [e for e in hot if e not in token]
                if len(hot) >= rows and others:
                    ages = {e: hot[e][0] / ((now - hot[e][1] + 1) if lfru else 1) for e in others}
                    del hot[min(others, key=lambda e: (ages[e], hot[e][2]))]
                if len(hot) >= rows:
                    continue
                hot[expert] = [0.0, 0.0, 0.0]
            hot[expert] = [(hot[expert][0] + 1) if lfru else seen[expert], now, now]
        cold.append(len(missing))
    return cold


@given(cases(experts=7))
def test_what_was_picked_least_often_goes(case: Any) -> None:  # noqa: ANN401 - drawn
    ids, boot, rows = case
    assert lfu_cold(ids, boot, [rows])[:, 0].tolist() == slowly(ids, boot, rows, lfru=False)


@given(cases(experts=7))
def test_what_has_the_least_frequency_over_age_goes(case: Any) -> None:  # noqa: ANN401 - drawn
    ids, boot, rows = case
    assert lfru_cold(ids, boot, [rows])[:, 0].tolist() == slowly(ids, boot, rows, lfru=True)


@pytest.mark.parametrize("lfru", [False, True])
def test_longer_traces_too(lfru: bool) -> None:  # noqa: FBT001 - which
    ids = traffic.domain_flip(400, 1, 8, 2, period=50)
    boot = np.arange(8)[None] < 3
    cold = lfru_cold if lfru else lfu_cold
    assert cold(ids, boot, [4])[:, 0].tolist() == slowly(ids, boot, 4, lfru=lfru)


@BOTH
@given(case=cases())
def test_none_is_better_than_belady(cold: Any, case: Any) -> None:  # noqa: ANN401 - drawn
    ids, boot, rows = case
    assert belady_cold(ids, boot, [rows]).sum() <= cold(ids, boot, [rows]).sum()


def test_by_hand_the_three_evict_another_one() -> None:
    # Two rows. 0 was picked three times, 1 once but just now; 2 comes.
    boot = np.zeros((1, 4), bool)
    picks = [0, 0, 0, 1, 2, 1, 0]
    ids = np.array(picks)[:, None, None]
    # LRU evicts 0, then has 1; 0 misses. LFU evicts 1, which misses and evicts 2; 0 hits.
    assert lru_cold(ids, boot, [2])[:, 0].tolist() == [1, 0, 0, 1, 1, 0, 1]
    assert lfu_cold(ids, boot, [2])[:, 0].tolist() == [1, 0, 0, 1, 1, 1, 0]
    # LFRU: 3 picks over an age of 5 - 3 + 1 are 1; 1 pick over 5 - 4 + 1 is 1/2 and goes.
    assert lfru_cold(ids, boot, [2])[:, 0].tolist() == [1, 0, 0, 1, 1, 1, 0]
    # Longer ago: 4 picks over 8 - 4 + 1 are less than 3 over 8 - 7 + 1, and 0 goes.
    late = np.array([0, 0, 0, 0, 1, 1, 1, 2, 0])[:, None, None]
    assert lfru_cold(late, boot, [2])[:, 0].tolist()[-2:] == [1, 1]
    assert lfu_cold(late, boot, [2])[:, 0].tolist()[-2:] == [1, 0]


@BOTH
def test_on_traffic_with_favourites_frequency_is_near_the_oracle(cold: Any) -> None:  # noqa: ANN401
    ids = traffic.matched(2000, 2, 64, 4)
    rows = [49, 20]
    boot = np.arange(64) < np.array(rows)[:, None]
    oracle = fixed_cold(ids, oracle_map(counted(ids, 64), rows)).sum()
    assert oracle < cold(ids, boot, rows).sum() < lru_cold(ids, boot, rows).sum()


@BOTH
def test_what_does_not_go_together_is_refused(cold: Any) -> None:  # noqa: ANN401 - a policy
    with pytest.raises(ValueError, match="2 rows and 1 maps for 1 layers"):
        cold(np.array([[[0, 1]]]), np.zeros((1, 3), bool), [1, 1])
    with pytest.raises(ValueError, match="ids are 0 to 1, and must be 0 to 0"):
        cold(np.array([[[0, 1]]]), np.zeros((1, 1), bool), [1])
