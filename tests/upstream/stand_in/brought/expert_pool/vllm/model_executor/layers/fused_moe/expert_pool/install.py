# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Puts one pool under all layers of a model."""

from collections.abc import Sequence

from .copy import Rows
from .layer import PooledLayer
from .pool import Pool, Slots
from .tables import TENSORS


def install(host: Sequence[Rows], slots: Rows) -> list[PooledLayer]:
    """Share a pool between layers.

    Args:
        host: Per layer its rows, [E][...] of every tensor.
        slots: Rows of the pool, [S][...] of every tensor, written to in place.

    Returns:
        One view per layer.
    """
    first, *_ = TENSORS
    pool = Pool(Slots(len(host), len(host[0][first]), len(slots[first])))
    return [PooledLayer(number, rows, slots, pool) for number, rows in enumerate(host)]
