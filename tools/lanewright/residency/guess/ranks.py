"""Makes guesses of scores, or of candidates in order."""

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.guess.setting import NONE, Ranks


def best(scores: NDArray[np.number], width: int) -> Ranks:
    """Name the experts with the highest scores, and none of which nothing is known.

    Args:
        scores: number[.., E]; 0 where nothing is known. A tie goes to the lower id.
        width: W, at most E.

    Returns:
        int32[.., W].
    """
    order = np.argsort(-scores, axis=-1, kind="stable")[..., :width]
    known = np.take_along_axis(scores, order, axis=-1) > 0
    return np.where(known, order, NONE).astype(np.int32)


def distinct(candidates: NDArray[np.integer], width: int) -> Ranks:
    """Name each candidate once, where it comes first.

    Args:
        candidates: int[.., C], from the likeliest on; -1 is none.
        width: W.

    Returns:
        int32[.., W].
    """
    by_value = np.argsort(candidates, axis=-1, kind="stable")
    values = np.take_along_axis(candidates, by_value, axis=-1)
    again = np.zeros(candidates.shape, np.bool_)
    again[..., 1:] = values[..., 1:] == values[..., :-1]
    gone = np.zeros(candidates.shape, np.bool_)
    np.put_along_axis(gone, by_value, again, axis=-1)
    gone |= candidates == NONE
    order = np.argsort(gone, axis=-1, kind="stable")[..., :width]
    left = np.where(
        np.take_along_axis(gone, order, axis=-1),
        NONE,
        np.take_along_axis(candidates, order, axis=-1),
    )
    found = np.full((*candidates.shape[:-1], width), NONE, np.int32)
    found[..., : left.shape[-1]] = left
    return found


def nothing(shape: tuple[int, ...]) -> Ranks:
    """Name none: int32[shape]."""
    return np.full(shape, NONE, np.int32)
