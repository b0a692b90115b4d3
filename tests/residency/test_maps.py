"""Traces, and maps that stand still."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.boot_map import boot_map
from lanewright.residency.fixed import fixed_cold
from lanewright.residency.null import null_share
from lanewright.residency.oracle import oracle_map
from lanewright.residency.regret import oracle_by_window, regret
from lanewright.residency.trace import by_window, counted, require_trace
from tests.expert_bank.plans import planned
from tests.residency import traffic

counts = st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=1, max_size=3).map(
    np.array
)
IDS = np.array([[[0, 1], [2, 3]], [[1, 2], [3, 0]], [[0, 3], [1, 2]]])


def test_counts_and_windows() -> None:
    assert counted(IDS, 5).tolist() == [[2, 2, 1, 1, 0], [1, 1, 2, 2, 0]]
    cold = fixed_cold(IDS, np.arange(5) < np.array([[2], [1]]))
    assert cold.tolist() == [[0, 2], [1, 1], [1, 2]]
    assert by_window(cold, 2).tolist() == [[1, 3], [1, 2]]
    assert by_window(cold, 9).tolist() == [[2, 5]]
    assert by_window(cold[:0], 9).shape == (0, 2)
    with pytest.raises(ValueError, match="a window of 0 tokens"):
        by_window(cold, 0)


def test_a_map_of_other_layers_is_refused() -> None:
    assert fixed_cold(IDS[:0], np.zeros((2, 5), bool)).shape == (0, 2)
    with pytest.raises(ValueError, match="a map of 1 layers for a trace of 2"):
        fixed_cold(IDS, np.zeros((1, 5), bool))


def test_the_null_is_the_planners() -> None:
    assert null_share(384, [295] * 40) == pytest.approx(1 - 0.768, abs=5e-4)
    plan = planned(8, 1, 4, experts=8, picks=2, row=1)
    assert null_share(8, [8, 1, 4]) == pytest.approx(plan.null_cold_share)


def test_the_null_is_what_uniform_traffic_gets_of_any_map() -> None:
    ids = traffic.uniform(20_000, 2, 64, 4)
    hot = np.zeros((2, 64), bool)
    hot[0, 3:52] = hot[1, ::2] = True
    share = fixed_cold(ids, hot).sum() / ids.size
    assert share == pytest.approx(null_share(64, [49, 32]), abs=0.005)


@given(counts, st.data())
def test_no_map_of_as_many_rows_is_better_than_the_oracle(counts: Any, data: Any) -> None:  # noqa: ANN401
    rows = [data.draw(st.integers(0, 6)) for _ in counts]
    hot = oracle_map(counts, rows)
    for layer, (picks, most) in enumerate(zip(counts, rows, strict=True)):
        assert hot[layer].sum() == most
        best = max(picks[list(some)].sum() for some in combinations(range(6), most))
        assert picks[hot[layer]].sum() == best


@given(counts, st.data())
def test_the_oracle_is_the_boot_map_of_such_usage(counts: Any, data: Any) -> None:  # noqa: ANN401
    rows = [data.draw(st.integers(0, 6)) for _ in counts]
    booted = boot_map("usage", hot=rows, experts=[6] * len(rows), usage=[*counts])
    hot = oracle_map(counts, rows)
    assert [np.flatnonzero(layer).tolist() for layer in hot] == [sorted(ids) for ids in booted]


def test_regret_is_what_another_map_would_have_saved() -> None:
    ids = traffic.switch(2048, 2, 64, 4, at=1024)
    rows = (49, 49)
    best = oracle_map(counted(ids[1024:], 64), rows)
    first = oracle_map(counted(ids[:1024], 64), rows)
    found = regret(fixed_cold(ids, first), ids, best, 1024)
    assert found.sum() == fixed_cold(ids, first).sum() - fixed_cold(ids, best).sum()
    assert found[0] < 0 < found[1]
    assert not regret(fixed_cold(ids, best), ids, best, 500).any()
    with pytest.raises(ValueError, match=r"cold picks of \[5, 2\] for a trace of \[2048, 2, 4\]"):
        regret(fixed_cold(ids[:5], best), ids, best, 500)


def test_a_window_s_own_oracle_is_the_least() -> None:
    ids = traffic.switch(1500, 2, 64, 4, at=512)
    least = oracle_by_window(ids, 64, (49, 20), 512)
    whole = fixed_cold(ids, oracle_map(counted(ids, 64), (49, 20)))
    assert len(least) == 3
    assert (least < by_window(whole, 512).sum(axis=1)).all()
    last = oracle_map(counted(ids[1024:], 64), (49, 20))
    assert least[2] == fixed_cold(ids[1024:], last).sum()


@pytest.mark.parametrize(
    ("ids", "why"),
    [
        (np.zeros((3, 2), int), r"a trace is int\[T, L, k\], and this is int64\[3, 2\]"),
        (np.zeros((3, 2, 1)), r"this is float64\[3, 2, 1\]"),
        (np.zeros((3, 0, 1), int), r"this is int64\[3, 0, 1\]"),
        (np.full((1, 1, 1), 4), "ids are 4 to 4, and must be 0 to 3"),
        (np.full((1, 1, 1), -1), "ids are -1 to -1, and must be 0 to 3"),
        (np.array([[[0, 1]], [[2, 2]]]), "a token picks one expert of a layer twice"),
    ],
)
def test_what_is_no_trace_is_refused(ids: Any, why: str) -> None:  # noqa: ANN401 - any array
    with pytest.raises(ValueError, match=why):
        require_trace(ids, 4)


@pytest.mark.parametrize("rows", [[], [-1], [7], [3, 3]])
def test_rows_that_no_layer_has_are_refused(rows: list[int]) -> None:
    with pytest.raises(ValueError, match="hot rows"):
        oracle_map(np.zeros((1, 6), int), rows)
    if len(rows) < 2:
        with pytest.raises(ValueError, match="hot rows"):
            null_share(6, rows)
