# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What a request will pick, by the requests that it is like (the paper's pEAM)."""

import numpy as np
from numpy.typing import NDArray

from expert_bank.eams.collection import Collection, Picks

Shares = NDArray[np.float64]  # [L, E]


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
