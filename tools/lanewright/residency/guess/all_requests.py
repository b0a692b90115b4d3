"""Guessers by what all requests picked: the part that is learned from, or all traffic so far."""

import numpy as np

from lanewright.residency.compared.forwards import forward_starts
from lanewright.residency.guess.ranks import best, nothing
from lanewright.residency.guess.setting import Ranks, Setting
from lanewright.residency.trace import Picks, counted


def global_frequency(setting: Setting) -> Ranks:
    """Name what was picked most often in the part that is learned from."""
    return _standing(setting, counted(setting.trace.ids[setting.learned], setting.trace.experts))


def cache_in_hindsight(setting: Setting) -> Ranks:
    """Name what is picked most often in what is guessed at: no standing cache holds more of it."""
    return _standing(setting, counted(setting.trace.ids[setting.scored], setting.trace.experts))


def cache_so_far(setting: Setting) -> Ranks:
    """Name what was picked last: what LRU holds with so many rows, all requests sharing them."""
    trace, tokens = setting.trace, setting.scored
    found = nothing((len(tokens), len(trace.layers), setting.width))
    # 0 where it was never picked.
    last = np.zeros((len(trace.layers), trace.experts), np.int64)
    layer = np.arange(len(trace.layers))[None, :, None]
    starts = forward_starts(trace.forward)
    edges = np.searchsorted(tokens, [*starts.tolist(), trace.tokens])
    for number, (first, behind) in enumerate(zip(starts, [*starts[1:], trace.tokens], strict=True)):
        if edges[number] < edges[number + 1]:
            found[edges[number] : edges[number + 1]] = best(last, setting.width)
        for token in range(first, behind):
            last[layer[0], trace.ids[token]] = token + 1
    return found


def at_random(setting: Setting) -> Ranks:
    """Name experts that are drawn."""
    draw = np.random.Generator(np.random.PCG64(setting.seed))
    trace, tokens = setting.trace, len(setting.scored)
    found = nothing((tokens, len(trace.layers), setting.width))
    for token in range(tokens):
        drawn = draw.random((len(trace.layers), trace.experts))
        found[token] = np.argsort(drawn, axis=1)[:, : setting.width]
    return found


def _standing(setting: Setting, counts: Picks) -> Ranks:
    one = best(counts, setting.width)
    return np.broadcast_to(one, (len(setting.scored), *one.shape))
