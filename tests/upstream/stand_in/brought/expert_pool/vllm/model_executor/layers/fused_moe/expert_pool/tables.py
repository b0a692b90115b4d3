# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which slot of the pool holds which expert of which layer."""

ABSENT = -1


class Table:
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
