"""Picks that a map which stands still serves from the cold bank."""

import numpy as np

from lanewright.residency.trace import Map, Picks, Trace, require_trace


def fixed_cold(ids: Trace, hot: Map) -> Picks:
    """Count the cold picks of each token in each layer.

    Args:
        ids: int[T, L, k].
        hot: bool[L, E].

    Returns:
        int64[T, L], 0..k; ``trace.by_window`` adds them up.

    Raises:
        ValueError: ``ids`` is no trace of as many layers and experts.
    """
    require_trace(ids, hot.shape[1])
    if ids.shape[1] != len(hot):
        raise ValueError(f"a map of {len(hot)} layers for a trace of {ids.shape[1]}")
    return cold_picks(ids, hot)


def cold_picks(ids: Trace, hot: Map) -> Picks:
    """Do the same for a trace that was looked at."""
    is_cold = ~hot[np.arange(len(hot))[:, None], ids]
    cold: Picks = np.sum(is_cold, axis=2, dtype=np.int64)
    return cold
