"""The exact-sum check: picks are tokens x k x layers, and those that a counter has."""

import numpy as np

from lanewright.errors import MismatchError
from lanewright.residency.trace import Picks, counted
from lanewright.residency.trace_file.recorded import Recorded


def require_exact(found: Recorded, tokens: int, counts: Picks | None = None) -> None:
    """Refuse a trace that lacks picks, or has some that no request made.

    Padding, warm-up and capture are no traffic; drafts under verify are.

    Args:
        found: The trace.
        tokens: Scheduled ones, as the requests' own outputs have them: never from what recorded
            the picks.
        counts: int64[L, E], what a usage counter has of the same traffic; None where none ran.

    Raises:
        MismatchError: A layer has other picks; it is named.
    """
    mine = counted(found.ids, found.experts)
    wanted = tokens * found.picks
    for name, picks in zip(found.layers, mine.sum(axis=1).tolist(), strict=True):
        if picks != wanted:
            raise MismatchError(
                f"layer {name} has {picks} picks, and {tokens} tokens of {found.picks} are {wanted}"
            )
    if counts is None:
        return
    if counts.shape != mine.shape:
        raise MismatchError(f"counts of {list(counts.shape)} for a trace of {list(mine.shape)}")
    if (apart := np.argwhere(mine != counts)).size:
        layer, expert = apart[0].tolist()
        raise MismatchError(
            f"layer {found.layers[layer]}: expert {expert} has {mine[layer, expert]} picks in the"
            f" trace, and {counts[layer, expert]} were counted; {len(apart)} such in all"
        )
