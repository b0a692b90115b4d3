# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Puts one pool under all layers of a model."""

from collections.abc import Sequence
from typing import Any

from .layer import PooledLayer
from .pool import Pool
from .tables import Table


def install(host: Sequence[Any], slots: Any) -> list[PooledLayer]:  # noqa: ANN401
    """Share a pool between layers.

    Args:
        host: Per layer its rows, [L][E][...].
        slots: Rows of the pool, [S][...], written to in place.

    Returns:
        One view per layer.
    """
    pool = Pool(Table(len(host), len(host[0]), len(slots)))
    return [PooledLayer(number, host, slots, pool) for number in range(len(host))]
