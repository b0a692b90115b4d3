"""Estimates with their 95 % intervals, of numbers whose distribution nobody knows."""

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Two-sided 95 %.
Z = 1.96
TAIL = 0.025
DRAWS = 2000
SEED = 20261201


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval."""

    middle: float
    low: float
    high: float

    def told(self, digits: int) -> str:
        """Write it for people."""
        low, middle, high = (f"{each:.{digits}f}" for each in (self.low, self.middle, self.high))
        return f"{middle} [{low}, {high}]"


def median(values: Sequence[float]) -> Interval:
    """Estimate the median, with the interval that the order statistics give."""
    ordered = sorted(values)
    reach = Z * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + reach))
    return Interval(statistics.median(ordered), ordered[low], ordered[high])


def ratio_of_sums(pairs: Sequence[tuple[float, float]], *, seed: int = SEED) -> Interval:
    """Estimate the sum of the firsts by that of the seconds, which few large ones may decide.

    Its interval is a bootstrap's: pairs are drawn anew, as many, with putting back, and the middle
    95 % of what that gives are kept. The same seed gives the same interval.

    Args:
        pairs: What was measured together, e.g. in one block; at least one. The seconds are above 0; where they are
            differences, their sum is surely above 0, or the ratio means nothing.
        seed: Of the draws.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    drawn = sorted(_ratio(rng.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    low = math.floor(TAIL * DRAWS)
    return Interval(_ratio(pairs), drawn[low], drawn[DRAWS - 1 - low])


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(first for first, _ in pairs) / sum(second for _, second in pairs)
