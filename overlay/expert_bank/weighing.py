# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How much a pick counts: half after every half-life, in tokens."""

from math import exp, expm1, log
from typing import NamedTuple


class Weights(NamedTuple):
    """What one barrier makes of a sum of picks.

    Attributes:
        kept: Of what was picked before it.
        mean: Of a pick since the barrier before. They came one after another, and only their sum
            is known, so each gets what they have on average.
    """

    kept: float
    mean: float


def weights(tokens: float, half_life: float) -> Weights:
    """Weigh the picks of a barrier.

    Args:
        tokens: Scheduled since the barrier before.
        half_life: Tokens after which a pick counts half.
    """
    decay = log(2) * tokens / half_life
    return Weights(exp(-decay), -expm1(-decay) / decay if decay else 1.0)


def spread_at_rest(tokens: float, half_life: float) -> float:
    """Give the ``Spread.value`` to which barriers every so many tokens lead."""
    kept, mean = weights(tokens, half_life)
    return mean / (1 + kept)


class Spread:
    """How far chance spreads a sum of weighed picks.

    Where an expert is picked at random and at one rate all along, the sum is expected to be that
    rate times all weights, and its variance that rate times all squared weights. These are the same
    for all experts, so the variance is the sum times a number that is known.
    """

    def __init__(self) -> None:
        self._weights = 0.0
        self._squares = 0.0

    def go_on(self, tokens: float, weighed: Weights) -> None:
        """Take in the tokens since the barrier before."""
        self._weights = self._weights * weighed.kept + tokens * weighed.mean
        self._squares = self._squares * weighed.kept**2 + tokens * weighed.mean**2

    @property
    def value(self) -> float:
        """Variance of a sum, as a part of it; 1 where nothing was picked."""
        return self._squares / self._weights if self._weights else 1.0
