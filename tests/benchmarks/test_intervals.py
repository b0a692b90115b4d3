"""The statistics of the benchmarks; what they measure is measured by ``nox -s bench``."""

import math
import random

import pytest

from benchmarks.intervals import median, ratio_of_sums


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


def blocks(rng: random.Random, count: int) -> list[tuple[float, float]]:
    """Pairs as a benchmark has them: every so often a second takes several times as long."""
    pairs = []
    for _ in range(count):
        first, slow = rng.gauss(1.0, 0.05), rng.random() < 1 / 4
        pairs.append((first, first + rng.gauss(0.01, 0.03) + slow))
    return pairs


def test_the_ratio_is_that_of_the_sums_and_lies_in_its_interval() -> None:
    found = ratio_of_sums([(1.0, 1.0), (1.0, 1.0), (1.0, 4.0)])
    assert found.middle == 0.5
    assert (found.low, found.high) == (0.25, 1.0)


def test_few_slow_steps_move_the_ratio_of_sums_and_not_the_median() -> None:
    pairs = [(1.0, 1.0)] * 95 + [(1.0, 3.0)] * 5
    assert median([first / second for first, second in pairs]).middle == 1.0
    assert ratio_of_sums(pairs).middle == pytest.approx(100 / 110)


def test_nineteen_of_twenty_intervals_hold_the_true_ratio() -> None:
    rng = random.Random(20261201)  # noqa: S311 - no secret
    true, rounds, held = 1.0 / (1.0 + 0.01 + 1 / 4), 100, 0
    for number in range(rounds):
        found = ratio_of_sums(blocks(rng, 100), seed=number)
        held += found.low <= true <= found.high
    assert 0.9 < held / rounds < 0.99


def test_the_same_seed_gives_the_same_interval() -> None:
    pairs = blocks(random.Random(2), 200)  # noqa: S311 - no secret
    found = ratio_of_sums(pairs, seed=1)
    assert found == ratio_of_sums(pairs, seed=1)
    assert found != ratio_of_sums(pairs, seed=2)


def test_more_blocks_give_a_narrower_interval_of_the_ratio() -> None:
    pairs = blocks(random.Random(3), 1600)  # noqa: S311 - no secret
    few, many = ratio_of_sums(pairs[:100]), ratio_of_sums(pairs)
    assert many.high - many.low < (few.high - few.low) / 2
