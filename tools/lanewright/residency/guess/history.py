"""What of a request is known when a token's forward begins: its tokens in earlier forwards."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace_file.recorded import Recorded

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class History:
    """Tokens sorted by request, each request's in the order in which they were scheduled.

    Attributes:
        order: int64[T], tokens; a request's lie together.
        start: int64[T], by token, where in ``order`` its request begins.
        known: int64[T], by token, how many of its request's were in earlier forwards: they are
            ``order[start : start + known]``.
    """

    order: Places
    start: Places
    known: Places


def history(found: Recorded) -> History:
    """Sort a trace's tokens.

    Tokens of one forward do not know of one another, drafts under verify neither.
    """
    order = np.argsort(found.request, kind="stable")
    request, forward = found.request[order], found.forward[order]
    begins = np.diff(request, prepend=-1) != 0
    together = begins | (np.diff(forward, prepend=-1) != 0)
    place = np.arange(found.tokens)
    first = np.maximum.accumulate(np.where(begins, place, 0))
    group = np.maximum.accumulate(np.where(together, place, 0))
    start, known = np.empty_like(order), np.empty_like(order)
    start[order], known[order] = first, group - first
    return History(order, start, known)


def latest(past: History, found: Recorded, tokens: Places, back: int) -> Places:
    """Find the accepted token so many before each one's forward.

    Args:
        past: Of the trace.
        found: The trace.
        tokens: int64[N].
        back: 1 for the last, 2 for the one before it.

    Returns:
        int64[N], tokens; -1 where the request has none.
    """
    accepted = found.accepted[past.order]
    kept = past.order[accepted]
    if not len(kept):
        return np.full(len(tokens), -1, np.int64)
    before = np.concatenate([[0], np.cumsum(accepted)])
    start = past.start[tokens]
    place = before[start + past.known[tokens]] - back
    return np.where(place >= before[start], kept[np.maximum(place, 0)], -1)
