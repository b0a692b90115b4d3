# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One layer's view of the shared pool."""

from collections.abc import Iterable, Sequence
from typing import Any

from .copy import copy_rows
from .pool import Pool


class PooledLayer:
    """Turns a layer's picks into slots, with the rows behind them in place."""

    def __init__(self, number: int, host: Sequence[Any], slots: Any, pool: Pool) -> None:  # noqa: ANN401
        self.number = number
        self.host = host
        self.slots = slots
        self.pool = pool

    def resolve(self, experts: Iterable[int]) -> list[int]:
        """Slots of these picks, in order; what was absent is copied first."""
        picks = list(experts)
        copy_rows(self.host, self.slots, self.pool.plan(self.number, picks))
        return [self.pool.table.slot(self.number, expert) for expert in picks]
