"""The fewest cold picks that any map could have had which moves on demand: Belady's, in hindsight."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace import Map, Picks, Trace, require_room, require_trace


def belady_cold(ids: Trace, boot: Map, rows: Sequence[int]) -> Picks:
    """Count the cold picks of each token in each layer under the best policy on demand.

    On demand: an expert gets hot only when it is picked. What is cold at a token's start is a cold
    pick, for its picks are in use together; then it takes a row, or is read in place and takes
    none. Kept is what is picked next the soonest, which no other choice undercuts: neither LRU, nor
    any map that stands still, nor one that swaps in nothing but what was just picked.

    Args:
        ids: int[T, L, k].
        boot: bool[L, E], the hot experts at the start.
        rows: H of each layer, at least the hot experts of ``boot``.

    Returns:
        int64[T, L], 0..k. A pick costs about 0.5 µs.

    Raises:
        ValueError: ``ids`` is no trace of as many layers and experts, or ``rows`` are too few.
    """
    experts = boot.shape[1]
    require_trace(ids, experts)
    require_room(ids, boot, rows)
    cold = np.zeros(ids.shape[:2], np.int64)
    for layer, most in enumerate(rows):
        mine = ids[:, layer]
        following, first = next_picks(mine, experts)
        start = {int(expert): int(first[expert]) for expert in np.flatnonzero(boot[layer])}
        cold[:, layer] = _layer(mine.tolist(), following.tolist(), start, most, experts)
    return cold


def next_picks(ids: NDArray[np.integer], experts: int) -> tuple[Picks, Picks]:
    """Find the token at which each pick's expert is picked again, and each expert's first.

    Args:
        ids: int[T, k], one layer's picks.
        experts: E.

    Returns:
        int64[T, k] and int64[E]; T where there is none.
    """
    tokens, picks = ids.shape
    flat = ids.ravel()
    order = np.argsort(flat, kind="stable")
    same = flat[order][1:] == flat[order][:-1]
    following = np.full(flat.size, tokens, np.int64)
    following[order[:-1][same]] = order[1:][same] // picks
    first = np.full(experts, tokens, np.int64)
    np.minimum.at(first, flat, np.arange(flat.size) // picks)
    return following.reshape(tokens, picks), first


def _layer(
    tokens: list[list[int]],
    following: list[list[int]],
    hot: dict[int, int],
    rows: int,
    experts: int,
) -> list[int]:
    """Serve one layer; ``hot`` has the token at which each hot expert is picked next."""
    # The latest on top, then the highest id; entries of the past stay below until they are swept.
    heap = [-(until * experts + expert) for expert, until in hot.items()]
    heapify(heap)
    most = 4 * rows + 4 * experts
    cold = []
    for picks, nexts in zip(tokens, following, strict=True):
        missed = 0
        for expert, until in zip(picks, nexts, strict=True):
            missed += expert not in hot
            hot[expert] = until
            heappush(heap, -(until * experts + expert))
        while len(hot) > rows:
            until, expert = divmod(-heappop(heap), experts)
            if hot.get(expert) == until:
                del hot[expert]
        if len(heap) > most:
            heap = [-(until * experts + expert) for expert, until in hot.items()]
            heapify(heap)
        cold.append(missed)
    return cold
