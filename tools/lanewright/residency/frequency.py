"""Copy on miss, and evict by how often an expert was picked: LFU and LFRU."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace import Map, Picks, Trace, require_room, require_trace

Worth = NDArray[np.float64]
# Picks of each expert, and when each was picked last, both in picks of its layer; and now.
Rule = Callable[[Worth, Worth, int], Worth]


def lfu_cold(ids: Trace, boot: Map, rows: Sequence[int]) -> Picks:
    """Count cold picks where what was picked least often is evicted.

    All picks since the start count, also those from before an expert was evicted and came back. Of
    two alike the one that was picked longer ago goes. The rest is as in ``lru.lru_cold``.

    Args:
        ids: int[T, L, k].
        boot: bool[L, E], the hot experts at the start; of those that are never picked the one with
            the highest id goes first.
        rows: H of each layer, at least the hot experts of ``boot``.

    Returns:
        int64[T, L], 0..k. A cold pick took about 10 µs.

    Raises:
        ValueError: ``ids`` is no trace of as many layers and experts, or ``rows`` are too few.
    """
    return _cold(ids, boot, rows, lambda picks, _last, _now: picks, forget=False)


def lfru_cold(ids: Trace, boot: Map, rows: Sequence[int]) -> Picks:
    """Count cold picks where frequency over age decides, as in vLLM's pull request 37190.

    The pull request calls it LRU weighted by frequency, layer by layer. The formula is that of
    tinyserve, which it refers to: picks since the expert last got a row, over the picks of the
    layer since it was picked last and 1; the least is evicted. An expert that is hot at the start
    counts as picked once. Arguments, result and the rest are as in ``lfu_cold``.
    """
    return _cold(ids, boot, rows, lambda picks, last, now: picks / (now - last + 1), forget=True)


def _cold(ids: Trace, boot: Map, rows: Sequence[int], rule: Rule, *, forget: bool) -> Picks:
    require_trace(ids, boot.shape[1])
    require_room(ids, boot, rows)
    cold = np.zeros(ids.shape[:2], np.int64)
    for layer, most in enumerate(rows):
        cold[:, layer] = _layer(ids[:, layer].astype(np.int64), boot[layer], most, rule, forget)
    return cold


def _layer(
    tokens: NDArray[np.int64],
    boot: NDArray[np.bool_],
    rows: int,
    rule: Rule,
    forget: bool,  # noqa: FBT001 - of _cold
) -> list[int]:
    hot = boot.copy()
    free = rows - int(hot.sum())
    picks = hot.astype(np.float64) if forget else np.zeros(len(hot))
    last = np.zeros(len(hot))
    # Of two alike: those that are picked later are behind, those that never were by their ids.
    age = -np.arange(len(hot), dtype=np.float64)
    cold = []
    now = 0
    for token in tokens:
        missing = token[~hot[token]]
        for expert in [*token[hot[token]].tolist(), *missing.tolist()]:
            now += 1
            was_hot = hot[expert]
            picks[expert] = 1 if forget and not was_hot else picks[expert] + 1
            if not was_hot and free:
                free -= 1
                hot[expert] = True
            elif not was_hot:
                able = hot.copy()
                able[token] = False
                if able.any():
                    hot[_least(np.where(able, rule(picks, last, now), np.inf), age)] = False
                    hot[expert] = True
            last[expert] = age[expert] = now
        cold.append(len(missing))
    return cold


def _least(worth: Worth, age: Worth) -> int:
    alike = np.flatnonzero(worth == worth.min())
    return int(alike[age[alike].argmin()])
