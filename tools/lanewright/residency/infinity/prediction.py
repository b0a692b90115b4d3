"""What a prediction (the paper's pEAM) makes of a prefetch's urgency and of an expert's worth."""

import numpy as np

from expert_bank.eams.prediction import Shares

# So that the layer still decides among experts that nobody picked.
EPSILON = 1e-6


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
