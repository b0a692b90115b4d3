"""What a request will pick, by the requests that it is like (the paper's pEAM)."""

import numpy as np
from numpy.typing import NDArray

from lanewright.residency.infinity.collection import Collection
from lanewright.residency.trace import Picks

Shares = NDArray[np.float64]  # [L, E]
# So that the layer still decides among experts that nobody picked.
EPSILON = 1e-6


def predicted(past: Collection, eam: Picks, nearest: int = 1) -> Shares | None:
    """Predict each layer's picks.

    Args:
        past: EAMs of other requests.
        eam: int64[L, E], this request's so far.
        nearest: How many EAMs are summed.

    Returns:
        float64[L, E], of each layer the shares of its experts; None where nothing is known.
    """
    if not len(past) or not eam.any():
        return None
    return normalised(past.eams[past.nearest(eam, nearest)].sum(axis=0))


def normalised(counts: NDArray[np.integer] | Shares) -> Shares:
    """Divide each row by its sum; a row of zeros stays one."""
    sums = counts.sum(axis=1, keepdims=True)
    shares: Shares = counts / np.where(sums > 0, sums, 1)
    return shares


def prefetch_priority(shares: Shares, layer: int) -> Shares:
    """Tell how urgent each expert is once a layer has been routed.

    Args:
        shares: float64[L, E], as predicted.
        layer: l, from 0 on.

    Returns:
        float64[L, E], ``shares[i][j] * (1 - (i - l) / L)`` for the layers i behind l, and 0 for
        the others.
    """
    layers = len(shares)
    ahead = np.arange(layers) - layer
    urgency = np.where(ahead > 0, 1 - ahead / layers, 0)
    return shares * urgency[:, None]


def keep_score(shares: Shares | None, layers: int, experts: int) -> Shares:
    """Tell what each expert is worth in the buffer; the least one is evicted.

    Early layers are worth more: what they need is known too late to be prefetched.

    Args:
        shares: float64[L, E], as predicted; None where nothing is.
        layers: L.
        experts: E.

    Returns:
        float64[L, E], ``(shares[i][j] + epsilon) / sum(shares[i]) * (1 - i / L)``; a layer of
        which nothing is known has 1/E for the quotient.
    """
    known = np.zeros((layers, experts)) if shares is None else shares
    sums = known.sum(axis=1, keepdims=True)
    worth = (known + EPSILON) / np.where(sums > 0, sums, experts * EPSILON)
    early: Shares = 1 - np.arange(layers)[:, None] / layers
    return worth * early
