"""How many different experts a number of picks comes to."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@lru_cache(maxsize=256)
def odds(experts: int, skew: float) -> NDArray[np.float64]:
    """Give Zipf's odds of each expert, the likeliest first.

    Args:
        experts: How many there are.
        skew: Zipf's exponent; 0 is uniform.

    Returns:
        float64[experts], which sum up to 1.
    """
    weights = np.arange(1, experts + 1, dtype=np.float64) ** -skew
    return np.asarray(weights / weights.sum())


def distinct(each: NDArray[np.float64], draws: float) -> float:
    """Expect how many different experts are among independent picks.

    Picks of one token are different ones, and those of neighbouring tokens are alike: neither is
    taken into account.

    Args:
        each: Odds of each expert.
        draws: How many picks; in the mean, so that it need not be a whole number.
    """
    if len(each) == 0:
        return 0.0
    # Less than one pick in the mean is no expert at some times, and one at others.
    if draws < 1:
        return draws
    return float((1.0 - (1.0 - each) ** draws).sum())
