# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One layer's view of the shared pool."""

from collections.abc import Iterable

from .copy import Rows, copy_rows
from .pool import Pool


class PooledLayer:
    """Turns a layer's picks into slots, with the rows behind them in place."""

    def __init__(self, number: int, host: Rows, slots: Rows, pool: Pool) -> None:
        self.number = number
        self.host = host
        self.slots = slots
        self.pool = pool

    def resolve(self, experts: Iterable[int]) -> list[int]:
        """Slots of these picks, in order; what was absent is copied first."""
        picks = list(experts)
        plan = self.pool.plan(self.number, picks)
        pairs = [each.expert for each in plan], [each.slot for each in plan]
        copy_rows(self.host, self.slots, *pairs, [len(plan)])
        return [self.pool.slots.slot(self.number, expert) for expert in picks]
