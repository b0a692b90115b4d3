"""How far a map that moves is from the best one that stands still."""

from collections.abc import Sequence

import numpy as np

from lanewright.residency.fixed import fixed_cold
from lanewright.residency.oracle import oracle_map
from lanewright.residency.trace import Map, Picks, Trace, by_window, counted


def regret(cold: Picks, ids: Trace, best: Map, window: int) -> Picks:
    """Tell by how many cold picks more than under another map, over time.

    Args:
        cold: int64[T, L], cold picks of the map that moved.
        ids: int[T, L, k], the picks themselves.
        best: bool[L, E], say the oracle map of the traffic, or of a part of it.
        window: Tokens of one; the last may have fewer.

    Returns:
        int64[W], all layers together; below zero where the moving map was the better one.

    Raises:
        ValueError: The shapes do not go together.
    """
    if cold.shape != ids.shape[:2]:
        raise ValueError(f"cold picks of {list(cold.shape)} for a trace of {list(ids.shape)}")
    more: Picks = by_window(cold - fixed_cold(ids, best), window).sum(axis=1)
    return more


def oracle_by_window(ids: Trace, experts: int, rows: Sequence[int], window: int) -> Picks:
    """Count the cold picks of each window under the best map for this window alone.

    No map that stands still within a window has fewer. Of a window with few picks for each expert
    much of that is chance, which nobody could have foreseen.

    Args:
        ids: int[T, L, k].
        experts: E of every layer.
        rows: H of each layer.
        window: Tokens of one; the last may have fewer.

    Returns:
        int64[W], all layers together.
    """
    parts = [ids[start : start + window] for start in range(0, len(ids), window)]
    maps = [oracle_map(counted(part, experts), rows) for part in parts]
    sums = [fixed_cold(part, best).sum() for part, best in zip(parts, maps, strict=True)]
    return np.array(sums, np.int64)
