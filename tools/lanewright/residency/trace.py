"""A trace of picks in memory: what it must be, how it is counted, and cut into windows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Trace = NDArray[np.integer]  # int[T, L, k]: tokens in order, MoE layers, logical experts
Map = NDArray[np.bool_]  # bool[L, E]: which experts are hot
Picks = NDArray[np.int64]


def require_trace(ids: Trace, experts: int) -> None:
    """Refuse what is no trace.

    Args:
        ids: int[T, L, k], the experts that each token picked in each layer.
        experts: E of every layer.

    Raises:
        ValueError: Another shape or type, an id outside 0..E-1, or one expert twice for a token.
    """
    if ids.ndim != 3 or not np.issubdtype(ids.dtype, np.integer) or not all(ids.shape[1:]):  # noqa: PLR2004 - T, L, k
        raise ValueError(f"a trace is int[T, L, k], and this is {ids.dtype}{list(ids.shape)}")
    if ids.size and (ids.min() < 0 or ids.max() >= experts):
        raise ValueError(f"ids are {ids.min()} to {ids.max()}, and must be 0 to {experts - 1}")
    # In parts: a sorted copy of a long trace is as large as the trace.
    for part in np.array_split(ids, len(ids) // 4096 + 1):
        if (np.diff(np.sort(part, axis=2), axis=2) == 0).any():
            raise ValueError("a token picks one expert of a layer twice")


def require_room(ids: Trace, boot: Map, rows: Sequence[int]) -> None:
    """Refuse rows that do not hold a map, or a map of another number of layers.

    Raises:
        ValueError: The same.
    """
    taken = boot.sum(axis=1).tolist()
    if not len(rows) == len(taken) == ids.shape[1]:
        raise ValueError(f"{len(rows)} rows and {len(taken)} maps for {ids.shape[1]} layers")
    if any(most < least for most, least in zip(rows, taken, strict=True)):
        raise ValueError(f"{taken} experts are hot, and the layers have {list(rows)} rows")


def counted(ids: Trace, experts: int) -> Picks:
    """Count the picks of each expert: int64[L, E]."""
    layers = ids.shape[1]
    cells = ids + np.arange(layers)[:, None] * experts
    return np.bincount(cells.ravel(), minlength=layers * experts).reshape(layers, experts)


def by_window(picks: Picks, window: int) -> Picks:
    """Add up what each token has in each layer.

    Args:
        picks: int64[T, L].
        window: Tokens of one; the last may have fewer.

    Returns:
        int64[W, L], W = T / window rounded up.
    """
    if window < 1:
        raise ValueError(f"a window of {window} tokens")
    return np.add.reduceat(picks, np.arange(0, len(picks), window), axis=0, dtype=np.int64)
