# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The planner: which rows to copy, and whose place they take."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from .tables import ABSENT, Table


@dataclass(frozen=True)
class Copy:
    """One row to copy from the host into a slot."""

    layer: int
    expert: int
    slot: int


class Pool:
    """Least recently used slots go first, but never one that the step itself needs."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.misses = 0
        self._order: OrderedDict[int, None] = OrderedDict.fromkeys(range(len(table.owners)))

    def plan(self, layer: int, experts: Iterable[int]) -> list[Copy]:
        """Make room for a layer's experts.

        Args:
            layer: The layer about to run.
            experts: Logical ids of its picks, repeated or not.

        Returns:
            Copies to be done before the layer runs.

        Raises:
            ValueError: The step needs more rows than the pool has.
        """
        wanted = list(dict.fromkeys(experts))
        if len(wanted) > len(self._order):
            raise ValueError(f"{len(wanted)} experts do not fit {len(self._order)} slots")
        absent = []
        for expert in wanted:
            slot = self.table.slot(layer, expert)
            if slot == ABSENT:
                absent.append(expert)
            else:
                self._order.move_to_end(slot)
        copies = [Copy(layer, expert, self._take(layer, expert)) for expert in absent]
        self.misses += len(copies)
        return copies

    def _take(self, layer: int, expert: int) -> int:
        slot = next(iter(self._order))
        self._order.move_to_end(slot)
        self.table.bind(slot, layer, expert)
        return slot
