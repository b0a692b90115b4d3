"""How much a pick counts, and how far chance spreads a sum of such."""

import numpy as np
import pytest

from expert_bank.weighing import Spread, spread_at_rest, weights


def test_picks_of_a_barrier_count_what_they_do_one_by_one() -> None:
    half_life, tokens = 2048, 8192
    one_by_one = 0.0
    for _ in range(tokens):
        kept, mean = weights(1, half_life)
        one_by_one = one_by_one * kept + mean
    kept, mean = weights(tokens, half_life)
    assert kept == pytest.approx(2**-4)
    assert tokens * mean == pytest.approx(one_by_one)
    assert weights(0, half_life) == (1, 1)


@pytest.mark.parametrize("tokens", [1, 64, 8192, 10**6])
def test_at_an_even_rate_a_score_is_the_same_whatever_the_barriers(tokens: int) -> None:
    kept, mean = weights(tokens, 2048)
    assert tokens * mean / (1 - kept) == pytest.approx(2048 / np.log(2))


@pytest.mark.parametrize("tokens", [1, 64, 1024, 8192])
def test_the_spread_is_what_random_picks_have(tokens: int) -> None:
    rng, rate, half_life, many = np.random.default_rng(0), 4 / 64, 2048, 4000
    sums, spread = np.zeros(many), Spread()
    assert spread.value == 1
    for _ in range(max(8, 8 * half_life // tokens)):
        weighed = weights(tokens, half_life)
        sums = sums * weighed.kept + weighed.mean * rng.poisson(rate * tokens, many)
        spread.go_on(tokens, weighed)
    assert spread.value == pytest.approx(spread_at_rest(tokens, half_life), rel=0.01)
    # A sample of so many has its variance within 2.3 % of it, at one deviation.
    assert sums.var() / sums.mean() == pytest.approx(spread.value, rel=0.08)


def test_before_scores_are_at_rest_chance_spreads_them_further() -> None:
    spread = Spread()
    spread.go_on(64, weights(64, 2048))
    assert spread.value == pytest.approx(weights(64, 2048).mean)
    assert spread.value > 1.9 * spread_at_rest(64, 2048)
