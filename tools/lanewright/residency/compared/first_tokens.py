"""Results by a token's place in its request: the first ones have no trace to go by."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.compared.outcome import Outcome
from lanewright.residency.trace import Picks


@dataclass(frozen=True)
class Bucket:
    """Tokens whose places are near to one another.

    Attributes:
        first: The first place, from 0 on.
        behind: The place behind the last.
        tokens: How many tokens are in it.
        cold_share: Of their picks.
        stall: Of each link, in GB/s, the mean seconds that their forwards waited.
    """

    first: int
    behind: int
    tokens: int
    cold_share: float
    stall: dict[float, float]


def places(request: NDArray[np.int64]) -> Picks:
    """Number the tokens of each request, in the order in which they were scheduled.

    Args:
        request: int64[T].

    Returns:
        int64[T], from 0 on.
    """
    order = np.argsort(request, kind="stable")
    starts = np.flatnonzero(np.diff(request[order], prepend=-1))
    lengths = np.diff(starts, append=len(request))
    found = np.empty(len(request), np.int64)
    found[order] = np.arange(len(request)) - np.repeat(starts, lengths)
    return found


def buckets(outcome: Outcome, place: Picks, starts: Picks, picks: int) -> Iterator[Bucket]:
    """Tell an outcome by place: 0, 1, 2 and 3, 4 to 7, and so on.

    Args:
        outcome: A policy's.
        place: int64[T], of each token in its request.
        starts: int64[F], the first token of each forward.
        picks: k.
    """
    number = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(place)))
    cold = outcome.cold.sum(axis=1)
    first, behind = 0, 1
    while first <= place.max(initial=-1):
        mine = (place >= first) & (place < behind)
        if count := int(mine.sum()):
            yield Bucket(
                first,
                behind,
                count,
                float(cold[mine].sum() / (count * outcome.cold.shape[1] * picks)),
                {link: float(each[number[mine]].mean()) for link, each in outcome.stall.items()},
            )
        first, behind = behind, behind * 2
