"""The best map that stands still, known in hindsight."""

from collections.abc import Sequence

import numpy as np

from lanewright.residency.trace import Map, Picks


def oracle_map(counts: Picks, rows: Sequence[int]) -> Map:
    """Choose the most picked experts; no other map of as many rows has fewer cold picks.

    Args:
        counts: int64[L, E], picks of the traffic that it is for (``trace.counted``).
        rows: H of each layer, 0..E.

    Returns:
        bool[L, E], of each layer the H most picked; a tie goes to the lower id.

    Raises:
        ValueError: ``rows`` is not 0..E of each layer.
    """
    layers, experts = counts.shape
    if len(rows) != layers or not 0 <= min(rows) <= max(rows) <= experts:
        raise ValueError(f"hot rows {list(rows)} of {layers} layers with {experts} experts")
    order = np.argsort(-counts, axis=1, kind="stable")
    hot = np.zeros((layers, experts), np.bool_)
    np.put_along_axis(hot, order, np.arange(experts) < np.array(rows)[:, None], axis=1)
    return hot
