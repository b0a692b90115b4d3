"""Maps drawn at random, and what they score on a trace."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace import Map, Picks


def random_map(layers: int, experts: int, rows: Sequence[int], seed: int) -> Map:
    """Draw the hot experts of each layer, every choice of as many being as likely.

    Args:
        layers: L.
        experts: E.
        rows: H of each layer, 0..E.
        seed: The same one gives the same map.

    Returns:
        bool[L, E].
    """
    if len(rows) != layers or not 0 <= min(rows) <= max(rows) <= experts:
        raise ValueError(f"hot rows {list(rows)} of {layers} layers with {experts} experts")
    place = np.random.Generator(np.random.PCG64(seed)).random((layers, experts)).argsort(axis=1)
    drawn: Map = place.argsort(axis=1) < np.array(rows)[:, None]
    return drawn


def random_shares(
    counts: Picks, rows: Sequence[int], draws: int, seed: int = 0
) -> NDArray[np.float64]:
    """Tell what share of the picks is cold under maps drawn at random.

    Their mean is near ``null.null_share``, whatever the traffic; how far they spread is what a
    map's choice is worth on it.

    Args:
        counts: int64[L, E], the traffic's picks (``trace.counted``), at least one.
        rows: H of each layer.
        draws: Maps.
        seed: Of the first; the next has the next.

    Returns:
        float64[draws].
    """
    layers, experts = counts.shape
    maps = (random_map(layers, experts, rows, seed + each) for each in range(draws))
    cold = np.array([counts[~hot].sum() for hot in maps], np.float64)
    shares: NDArray[np.float64] = cold / counts.sum()
    return shares
