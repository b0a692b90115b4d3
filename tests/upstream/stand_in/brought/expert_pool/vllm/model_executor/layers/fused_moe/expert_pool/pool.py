# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The planner: which rows to copy, and whose place they take."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

ABSENT = -1


@dataclass(frozen=True)
class Copy:
    """One row to copy from the host into a slot."""

    layer: int
    expert: int
    slot: int


class Slots:
    """Slots by layer and expert, and back.

    Attributes:
        slots: int[L][E], a slot or ``ABSENT``.
        owners: Per slot its (layer, expert), or None.
    """

    def __init__(self, layers: int, experts: int, slots: int) -> None:
        self.slots = [[ABSENT] * experts for _ in range(layers)]
        self.owners: list[tuple[int, int] | None] = [None] * slots

    def slot(self, layer: int, expert: int) -> int:
        """Where an expert's row is, or ``ABSENT``."""
        return self.slots[layer][expert]

    def bind(self, slot: int, layer: int, expert: int) -> None:
        """Give a slot to an expert; whoever had it is absent from here on."""
        before = self.owners[slot]
        if before is not None:
            self.slots[before[0]][before[1]] = ABSENT
        self.owners[slot] = (layer, expert)
        self.slots[layer][expert] = slot


class Pool:
    """Least recently used slots go first, but never one that the step itself needs."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.misses = 0
        self._order: OrderedDict[int, None] = OrderedDict.fromkeys(range(len(slots.owners)))

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
            slot = self.slots.slot(layer, expert)
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
        self.slots.bind(slot, layer, expert)
        return slot
