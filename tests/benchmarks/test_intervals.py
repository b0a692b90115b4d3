"""The statistics of the benchmarks that toggle; what they measure is measured by ``nox -s bench``."""

import math
import random

import pytest

from benchmarks.toggled import median


def test_the_median_lies_in_its_interval() -> None:
    found = median([5.0, 1.0, 4.0, 2.0, 3.0])
    assert (found.low, found.middle, found.high) == (1.0, 3.0, 5.0)
    assert found.told(1) == "3.0 [1.0, 5.0]"


@pytest.mark.parametrize("count", [30, 301])
def test_nineteen_of_twenty_intervals_hold_the_true_median(count: int) -> None:
    rng = random.Random(count)  # noqa: S311 - no secret
    rounds = 2000
    held = 0
    for _ in range(rounds):
        found = median([rng.expovariate(1.0) for _ in range(count)])
        held += found.low <= math.log(2) <= found.high
    assert 0.94 < held / rounds < 0.99


def test_more_blocks_give_a_narrower_interval() -> None:
    rng = random.Random(1)  # noqa: S311 - no secret
    values = [rng.gauss(1.0, 0.1) for _ in range(4000)]
    few, many = median(values[:100]), median(values)
    assert many.high - many.low < (few.high - few.low) / 3
