# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Where a layer's cold experts are once they are staged: a second table, with other rows and places."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from expert_bank.bank import LayerBank
from expert_bank.staging.copies import Copies
from expert_bank.staging.slots import Run, Slots
from expert_bank.table import Table
from expert_bank.table_layout import BANK, COLD, PLACE, ROW


class LayerStage:
    """What one layer's staging needs; brought up to date before a step, never within one.

    Attributes:
        bank: Of the layer; its tensors have ``stage``.
        table: int32[4, E] on the device, as the layer's own but for its cold experts: their row is their
            slot, and their place, where both banks are one allocation, counts on behind them, H + C + slot;
            else it counts on behind the hot rows, for a kernel is handed the layer's slots in the place of
            the cold rows. Written in place alone.
        rows: int64[n], the cold rows of its n cold experts, in the order of their slots.
        read: Whether the layer's kernel is to read its slots in this step.
        warm: Whether a kernel of its own over the slots is to run as well, for nothing but its tuning.
        refreshed: Called once the table has changed.
        wrong: int32[1] on the device, comparisons that found another row; see ``compare``.
    """

    def __init__(self, bank: LayerBank, table: Table, layer: int, slots: Slots) -> None:
        self.bank = bank
        self.table = torch.zeros_like(table.device[layer])
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self.read = self.warm = False
        self.refreshed: list[Callable[[], None]] = []
        self.wrong = torch.zeros(1, dtype=torch.int32, device=self.table.device)
        self._host = table.host[layer]
        self._slots = slots.whole(layer)
        self._stale = True
        self._behind = bank.hot
        if bank.one_allocation:
            self._behind += bank.cold + self._slots.first

    def mark(self) -> None:
        """Note that an entry of the layer's table changed."""
        self._stale = True

    @property
    def fits(self) -> bool:
        """Tell whether there is a slot for each cold expert; not where hot rows are empty."""
        return len(self.rows) <= self._slots.count

    def refresh(self) -> None:
        """Take the table's state over, if it changed."""
        if not self._stale:
            return
        state = self._host.copy()
        cold = np.flatnonzero(state[BANK] == COLD)
        self.rows = state[ROW, cold].astype(np.int64)
        if self.fits:
            order = np.arange(len(cold))
            state[PLACE, cold] = self._behind + order
            state[ROW, cold] = self._slots.first + order
            self.table.copy_(torch.from_numpy(state))
            for each in self.refreshed:
                each()
        self._stale = False

    def copies(self, run: Run) -> Copies:
        """List what brings a part of the rows into its slots."""
        rows = self.rows[run.rows : run.rows + run.count]
        slots = run.first + np.arange(len(rows), dtype=np.int64)
        parts = []
        for each in self.bank.tensors:
            size = each.cold[0].nbytes
            to = _stage(each.stage).data_ptr() + slots * size
            parts.append(Copies(to, each.cold.data_ptr() + rows * size, np.full_like(rows, size)))
        return Copies.joined(parts)

    def slots(self) -> dict[str, torch.Tensor]:
        """Give the layer's slots of each row tensor, [C', ...] by name."""
        part = slice(self._slots.first, self._slots.first + self._slots.count)
        return {each.name: _stage(each.stage)[part] for each in self.bank.tensors}

    def compare(self, index: int) -> bool:
        """Compare a staged row with the cold one that it is of, in every tensor.

        Returns:
            Whether they are known to differ; on a device that is only noted in ``wrong``, for whoever
            asks waits for it.
        """
        row, slot = int(self.rows[index]), self._slots.first + index
        for each in self.bank.tensors:
            one, other = _bytes(each.cold[row]), _bytes(_stage(each.stage)[slot])
            if one.device.type != "cpu":
                self.wrong += (one != other).any()
            elif not torch.equal(one, other):
                return True
        return False


def _stage(rows: torch.Tensor | None) -> torch.Tensor:
    if rows is None:
        raise ValueError("the layer's rows have no staging buffer behind them")
    return rows


def _bytes(row: torch.Tensor) -> torch.Tensor:
    return row.reshape(-1).view(torch.uint8)
