"""Copy on miss, and evict what was picked longest ago: the policy that most caches have."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from lanewright.residency.gaps import Gaps, gaps
from lanewright.residency.trace import Map, Picks, Trace, require_room, require_trace

# Gaps that end until it is told which go on.
AT_ONCE = 256


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
        int64[T, L], 0..k. ``nox -s bench -- replay`` tells how long a pick takes.

    Raises:
        ValueError: ``ids`` is no trace of as many layers and experts, or ``rows`` are too few.
    """
    require_trace(ids, boot.shape[1])
    require_room(ids, boot, rows)
    tokens, _, picks = ids.shape
    cold = np.zeros(ids.shape[:2], np.int64)
    for layer, most in enumerate(rows):
        mine = np.ascontiguousarray(ids[:, layer])
        hot = int(boot[layer].sum())
        # With few rows most picks miss, and each miss is a step in Python either way.
        if most < max(picks, boot.shape[1] / 2):
            cold[:, layer] = each_token(mine.tolist(), np.flatnonzero(boot[layer]).tolist(), most)
            continue
        # An expert is evicted once as many others as there are rows were picked after it: not before
        # its own token and those behind it have more picks than that.
        found = gaps(mine, boot[layer], (most + picks) // picks)
        missed = _missed(found, most - hot)
        cold[:, layer] = np.bincount(found.token[missed], minlength=tokens)
    return cold


def _missed(found: Gaps, free: int) -> list[int]:
    """Find the gaps in which their expert was evicted, by their number among those that end.

    All experts that are hot are in a gap. A row is taken from the gap that began the longest ago,
    of those that go on: its expert is the one that was picked longest ago.
    """
    count, ends = len(found.end), len(found.token)
    end, behind = found.end.data, found.behind.data
    again, later = found.again.data, found.later.data
    # By what ends a gap: whether the expert is cold by then.
    gone = bytearray((found.ended < 0).tobytes()) + b"\0"
    # By gap: whether it goes on, as far as was looked; whether it begins with a miss.
    alive, cold = bytearray(b"\1" * count), bytearray(count + 1)
    looked, at = 0, 0
    missed: list[int] = []
    this = gone.find(1, 0, ends)
    while this >= 0:
        missed.append(this)
        cold[again[this]] = 1
        if free:
            free -= 1
        else:
            # What ends with this token, or has before, is in use.
            in_use = later[this]
            if in_use - looked > AT_ONCE:
                over = found.ended[looked:in_use]
                np.frombuffer(alive, np.uint8)[over[over >= 0]] = 0
                looked = in_use
            at = alive.find(1, at)
            while end[at] < in_use:
                at = alive.find(1, at + 1)
            victim = at
            if cold[at]:
                # Of one token the hits go before the misses.
                for other in range(at + 1, behind[at]):
                    if alive[other] and not cold[other] and end[other] >= in_use:
                        victim = other
                        break
            alive[victim] = 0
            gone[end[victim]] = 1
        this = gone.find(1, this + 1, ends)
    return missed


def each_token(tokens: list[list[int]], hot: list[int], rows: int) -> list[int]:
    """Serve a layer token by token, which takes any number of rows.

    Args:
        tokens: The picks of each.
        hot: The hot experts at the start, in order of their ids.
        rows: H.

    Returns:
        Cold picks of each token.
    """
    order = OrderedDict.fromkeys(reversed(hot))  # the one to evict is the first
    cold = []
    for picks in tokens:
        missing = [expert for expert in picks if expert not in order]
        for expert in picks:
            if expert in order:
                order.move_to_end(expert)
        for expert in missing[: rows - len(picks) + len(missing)]:
            if len(order) == rows:
                order.popitem(last=False)
            order[expert] = None
        cold.append(len(missing))
    return cold
