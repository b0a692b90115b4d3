"""A trace's forwards: where they begin, and which rows each reads."""

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace import Map, Picks, Trace


def forward_starts(forward: NDArray[np.int64]) -> Picks:
    """Find the first token of each forward.

    Args:
        forward: int64[T], which never falls.

    Returns:
        int64[F].
    """
    return np.flatnonzero(np.diff(forward, prepend=-1))


def by_forward(numbers: Picks, starts: Picks) -> Picks:
    """Add up what the tokens of each forward have.

    Args:
        numbers: int64[T].
        starts: int64[F].

    Returns:
        int64[F].
    """
    sums = np.add.reduceat(numbers, starts) if len(starts) else np.zeros(0)
    return sums.astype(np.int64)


def cold_rows(ids: Trace, hot: Map, starts: Picks) -> Picks:
    """Count the cold rows that each forward reads; tokens that pick the same one read it once.

    Args:
        ids: int[T, L, k].
        hot: bool[L, E], as it is in all of these forwards.
        starts: int64[F].

    Returns:
        int64[F], all layers together.
    """
    layers, experts = hot.shape
    cells = ids + np.arange(layers)[:, None] * experts
    lengths = np.diff(starts, append=len(ids))
    number = np.repeat(np.arange(len(starts)), lengths)
    read = (number[:, None, None] * hot.size + cells)[~hot.ravel()[cells]]
    if (lengths > 1).any():
        read = np.unique(read)
    return np.bincount(read // hot.size, minlength=len(starts))
