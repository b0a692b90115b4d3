"""Guessers by what the token picked in the layer before."""

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.guess.ranks import best, nothing
from lanewright.residency.guess.setting import CannotGuess, Ranks, Setting
from lanewright.residency.trace import Trace

AT_ONCE = 2**24
# A layer's table has E x E numbers.
MOST_EXPERTS = 8192


def same_ids(setting: Setting) -> Ranks:
    """Name the ids of the layer before; of the first layer none."""
    ids = setting.trace.ids[setting.scored]
    found = nothing((*ids.shape[:2], setting.width))
    found[:, 1:, : min(ids.shape[2], setting.width)] = ids[:, :-1]
    return found


def by_table(setting: Setting) -> Ranks:
    """Name what a learned table has for them; of the first layer none.

    An expert's score is that of at least one of k causes, each as likely as the table has it.
    """
    trace = setting.trace
    _require_room(trace.experts)
    learned, ids = trace.ids[setting.learned], trace.ids[setting.scored].astype(np.int64)
    found = nothing((*ids.shape[:2], setting.width))
    step = max(1, AT_ONCE // trace.experts)
    for layer in range(1, ids.shape[1]):
        unlikely = -np.log1p(-table(learned, layer, trace.experts))
        for start in range(0, len(ids), step):
            part = ids[start : start + step, layer - 1]
            scores = sum(
                (unlikely[part[:, pick]] for pick in range(1, part.shape[1])), unlikely[part[:, 0]]
            )
            found[start : start + step, layer] = best(scores, setting.width)
    return found


def table(learned: Trace, layer: int, experts: int) -> NDArray[np.float32]:
    """Learn how likely a token picks an expert where it picked another in the layer before.

    Each expert of the layer before counts as seen once more, with the layer's own shares: what was
    never seen to follow it is not taken for impossible.

    Args:
        learned: int[T, L, k].
        layer: Whose picks are to be guessed, 1..L-1.
        experts: E.

    Returns:
        float32[E, E], by the expert before and the expert, below 1.
    """
    one, other = learned[:, layer - 1].astype(np.int64), learned[:, layer].astype(np.int64)
    cells = one[:, :, None] * experts + other[:, None, :]
    joint = np.bincount(cells.ravel(), minlength=experts * experts).reshape(experts, experts)
    shares = np.bincount(other.ravel(), minlength=experts) / (len(learned) + 1)
    seen = np.bincount(one.ravel(), minlength=experts)
    likely: NDArray[np.float32] = ((joint + shares) / (seen + 1)[:, None]).astype(np.float32)
    return np.minimum(likely, np.float32(1 - 1e-6))


def _require_room(experts: int) -> None:
    if experts > MOST_EXPERTS:
        raise CannotGuess(f"a table of {experts} x {experts} is more than {MOST_EXPERTS} squared")
