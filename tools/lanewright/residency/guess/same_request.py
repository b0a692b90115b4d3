"""Guessers by what the same request picked in its earlier forwards."""

import numpy as np

from expert_bank.eams.collection import Collection
from expert_bank.eams.prediction import predicted
from lanewright.residency.guess.history import History, history, latest
from lanewright.residency.guess.ranks import best, distinct, nothing
from lanewright.residency.guess.setting import NONE, WIDEST, CannotGuess, Ranks, Setting
from lanewright.residency.trace import counted


def previous_step(setting: Setting) -> Ranks:
    """Name what the token before picked in the layer, then what the one before that did."""
    trace, tokens = setting.trace, setting.scored
    past = history(trace)
    several = []
    for back in range(1, WIDEST + 1):
        token = latest(past, trace, tokens, back)
        ids = trace.ids[np.maximum(token, 0)].astype(np.int32)
        several.append(np.where((token < 0)[:, None, None], NONE, ids))
    return distinct(np.concatenate(several, axis=2), setting.width)


def request_frequency(setting: Setting) -> Ranks:
    """Name what the request picked most often; a tie goes to what is picked more elsewhere."""
    trace, tokens = setting.trace, setting.scored
    past = history(trace)
    found = nothing((len(tokens), len(trace.layers), setting.width))
    counts = counted(trace.ids[setting.learned], trace.experts)
    shares = counts / (counts.sum(axis=1, keepdims=True) + 1)
    for mine in _by_request(setting):
        start, known = past.start[tokens[mine[0]]], past.known[tokens[mine]]
        own = past.order[start : start + known.max()]
        for layer in range(len(trace.layers)):
            each = np.zeros((len(own) + 1, trace.experts), np.int32)
            np.put_along_axis(each[1:], trace.ids[own, layer].astype(np.int64), 1, axis=1)
            so_far = np.cumsum(each, axis=0)[known]
            scores = np.where(so_far > 0, so_far + shares[layer], 0)
            found[mine, layer] = best(scores, setting.width)
    return found


def eam(setting: Setting) -> Ranks:
    """Name what requests picked that are like this one so far: MoE-Infinity's prediction.

    As in the paper prefill and decode are apart: what is held against one another is of the phase
    that is guessed at, and a request's first forward in it has no guess. The others are the requests
    that were learned from, in the order in which they ended.
    """
    trace, tokens = setting.trace, setting.scored
    past = history(trace)
    kept = _learned_eams(setting, past)
    found = nothing((len(tokens), len(trace.layers), setting.width))
    for mine in _by_request(setting):
        start, known = past.start[tokens[mine[0]]], past.known[tokens[mine]]
        so_far = np.zeros((len(trace.layers), trace.experts), np.int64)
        seen = 0
        for many in np.unique(known):
            own = past.order[start + seen : start + many]
            so_far += counted(trace.ids[own[setting.in_phase[own]]], trace.experts)
            seen = int(many)
            if (shares := predicted(kept, so_far, setting.nearest)) is not None:
                found[mine[known == many]] = best(shares, setting.width)
    return found


def draft(setting: Setting) -> Ranks:
    """Name what a rejected draft picked that stood at the same place of the request.

    Raises:
        CannotGuess: No token that is guessed at was drafted before.
    """
    trace, tokens = setting.trace, setting.scored
    order = np.lexsort((np.arange(trace.tokens), trace.position, trace.request))
    same = (np.diff(trace.request[order]) == 0) & (np.diff(trace.position[order]) == 0)
    before = np.full(trace.tokens, -1, np.int64)
    before[order[1:][same]] = order[:-1][same]
    token = before[tokens]
    drafted = (token >= 0) & ~trace.accepted[token]
    if not drafted.any():
        raise CannotGuess("none in this trace: no token stands where a draft was rejected before")
    found = nothing((len(tokens), len(trace.layers), setting.width))
    narrow = min(trace.picks, setting.width)
    found[drafted, :, :narrow] = trace.ids[token[drafted]]
    return found


def _by_request(setting: Setting) -> list["np.ndarray[tuple[int], np.dtype[np.int64]]"]:
    """Numbers among the tokens that are guessed at, request by request."""
    request = setting.trace.request[setting.scored]
    order = np.argsort(request, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(request[order])) + 1)


def _learned_eams(setting: Setting, past: History) -> Collection:
    trace = setting.trace
    kept = Collection(len(trace.layers), trace.experts, setting.eams)
    learned = past.order[(setting.learned & setting.in_phase)[past.order]]
    request = trace.request[learned]
    whole = np.split(learned, np.flatnonzero(np.diff(request)) + 1)
    for tokens in sorted((each for each in whole if len(each)), key=lambda each: int(each[-1])):
        kept.add(counted(trace.ids[tokens], trace.experts))
    return kept
