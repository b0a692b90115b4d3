"""The random null: maps that know nothing."""

from itertools import combinations

import numpy as np
import pytest

from lanewright.residency.fixed import fixed_cold
from lanewright.residency.null import null_share
from lanewright.residency.random_maps import random_map, random_shares
from lanewright.residency.trace import counted
from tests.residency import traffic

TRACES = {
    "uniform": traffic.uniform(2000, 3, 32, 4),
    "matched": traffic.matched(2000, 3, 32, 4),
    "switch": traffic.switch(2000, 3, 32, 4, at=700),
    "thrash": traffic.thrash(2000, 3, 32, 4, hot=24),
}


@pytest.mark.parametrize("ids", TRACES.values(), ids=TRACES)
@pytest.mark.parametrize("rows", [(24, 24, 24), (24, 3, 17)])
def test_the_null_is_within_three_standard_errors(
    ids: traffic.Trace, rows: tuple[int, ...]
) -> None:
    shares = random_shares(counted(ids, 32), rows, 400)
    error = shares.std(ddof=1) / np.sqrt(len(shares))
    assert abs(shares.mean() - null_share(32, rows)) <= 3 * error


def test_every_choice_is_as_likely() -> None:
    drawn = [random_map(1, 4, [2], seed)[0] for seed in range(6000)]
    found = dict.fromkeys(combinations(range(4), 2), 0)
    for hot in drawn:
        one, other = np.flatnonzero(hot).tolist()
        found[one, other] += 1
    # Standard deviation: sqrt(6000 x 1/6 x 5/6) = 29.
    assert all(abs(count - 1000) < 3.5 * 29 for count in found.values())


def test_a_share_is_that_of_its_map() -> None:
    ids = TRACES["matched"]
    rows = (24, 3, 17)
    shares = random_shares(counted(ids, 32), rows, 3, seed=5)
    for place, share in enumerate(shares):
        hot = random_map(3, 32, rows, 5 + place)
        assert hot.sum(axis=1).tolist() == [24, 3, 17]
        assert share == fixed_cold(ids, hot).sum() / ids.size
    assert len({*shares.tolist()}) == 3


@pytest.mark.parametrize("rows", [[1], [1, 5], [-1, 1]])
def test_rows_that_no_layer_has_are_refused(rows: list[int]) -> None:
    with pytest.raises(ValueError, match="hot rows"):
        random_map(2, 4, rows, 0)
