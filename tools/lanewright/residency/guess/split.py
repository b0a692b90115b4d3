"""Which requests are learned from, and which are guessed at: none is in both."""

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.trace_file.recorded import Recorded


def learned_requests(
    found: Recorded, share: float, *, drawn: bool = False, seed: int = 0
) -> NDArray[np.bool_]:
    """Choose whole requests until they have a share of the trace's tokens.

    Args:
        found: The trace.
        share: Of its tokens, above 0 and below 1.
        drawn: Whether requests are drawn by ``seed``; else those that began first are taken.
        seed: The same one draws the same requests.

    Returns:
        bool[T], the tokens of these requests; at least one request is chosen, and one is not.

    Raises:
        ValueError: The trace has fewer than two requests, or ``share`` is out of range.
    """
    if not 0 < share < 1:
        raise ValueError(f"a share of {share:g}, and it must leave something on both sides")
    names, first, number, tokens = np.unique(
        found.request, return_index=True, return_inverse=True, return_counts=True
    )
    if len(names) < 2:  # noqa: PLR2004 - one on each side
        raise ValueError(f"{len(names)} requests, and one is needed on each side")
    order = np.argsort(first)
    if drawn:
        order = np.random.Generator(np.random.PCG64(seed)).permutation(order)
    behind = np.cumsum(tokens[order])
    many = int(np.searchsorted(behind, share * found.tokens)) + 1
    mine = np.zeros(len(names), np.bool_)
    mine[order[: min(many, len(names) - 1)]] = True
    chosen: NDArray[np.bool_] = mine[number]
    return chosen
