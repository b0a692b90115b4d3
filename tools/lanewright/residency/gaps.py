"""Where an expert is picked again only after so long that it may have been evicted meanwhile."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace import Picks


@dataclass(frozen=True)
class Gaps:
    """The gaps of one layer between two picks of one expert; shorter ones are left out.

    They have numbers in the order in which they begin. Before all others that are of picks come
    those of the experts that are hot at the start, the highest id first. Gaps that end within the
    trace have numbers in the order in which they end, too; so has the first pick of an expert that
    was not hot, though no gap begins it.

    Attributes:
        end: int64[G], of each gap its number among those that end; of one that does not, a number
            from N on.
        behind: int64[G], the gap behind the last that begins with the same token as this.
        token: int64[N], the token that ends each.
        later: int64[N], the first that ends with a later token; N where none does.
        again: int64[N], the gap that begins with the very pick that ends this one; -1 where it is
            short.
        ended: int64[N], the gap that each ends; -1 where it ends none.
    """

    end: Picks
    behind: Picks
    token: Picks
    later: Picks
    again: Picks
    ended: Picks


def gaps(ids: NDArray[np.integer], hot: NDArray[np.bool_], shortest: int) -> Gaps:
    """Find the gaps of one layer.

    Args:
        ids: int[T, k], its picks.
        hot: bool[E], the hot experts at the start.
        shortest: In tokens, from 1 on; of shorter ones some may be there.
    """
    picks, size = ids.shape[1], ids.size
    following, first = _following(ids.ravel(), len(hot), (shortest - 1) * picks)
    begin = np.flatnonzero(following)
    booted = np.flatnonzero(hot)[::-1]
    until = np.concatenate([first[booted], following[begin]])
    unknown = first[~hot & (first < size)]

    # By the pick that ends it; 0 is a number, too.
    ended = np.zeros(size + 1, np.int64)
    ended[until] = np.arange(1, len(until) + 1)
    ended[size] = 0
    ended[unknown] = -1
    pick = np.flatnonzero(ended)
    gap = ended[pick]
    end = np.full(len(until), len(pick))
    end[gap[gap > 0] - 1] = np.flatnonzero(gap > 0)

    number = np.full(size, -1)
    number[begin] = np.arange(len(booted), len(until))
    token = pick // picks
    began = np.concatenate([np.arange(-len(booted), 0), begin // picks])
    return Gaps(
        end=end,
        behind=_behind(began),
        token=token,
        later=_behind(token),
        again=number[pick],
        ended=np.where(gap > 0, gap - 1, -1),
    )


def _behind(tokens: Picks) -> Picks:
    """Find, in numbers that never fall, the place behind the last that is equal to each."""
    ends = np.append(np.flatnonzero(np.diff(tokens)) + 1, len(tokens))
    return np.repeat(ends, np.diff(ends, prepend=0))


def _following(flat: NDArray[np.integer], experts: int, least: int) -> tuple[Picks, Picks]:
    """Find the pick that ends the gap which each pick begins, and each expert's first pick.

    Args:
        flat: int[n], picks in order.
        experts: E.
        least: A gap of so many picks, or fewer, is left out.

    Returns:
        int64[n], 0 where the gap is shorter and n where it has no end; int64[E], n where there is
        no first.
    """
    size = flat.size
    # 16 bits are sorted by radix, in a third of the time.
    order = np.argsort(flat.astype(np.uint16), kind="stable")
    same = flat[order[1:]] == flat[order[:-1]]
    following = np.zeros(size, np.int64)
    following[order[:-1]] = np.where(same, order[1:], size)
    following[order[-1:]] = size
    first = np.full(experts, size)
    heads = order[np.append(size > 0, ~same)[:size]]
    first[flat[heads]] = heads
    following[following - np.arange(size) <= least] = 0
    return following, first
