# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Where a layer's cold experts are once they are staged: a second table, with other places alone."""

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
        table: int32[4, E] on the device, as the layer's own but for the places of cold experts, which
            count on into the buffer: H + C + slot. Written in place alone.
        rows: int64[n], the cold rows of its n cold experts, in the order of their slots.
    """

    def __init__(self, bank: LayerBank, table: Table, layer: int, slots: Slots) -> None:
        self.bank = bank
        self.table = torch.zeros_like(table.device[layer])
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._host = table.host[layer]
        self._slots = slots.whole(layer)
        self._stale = True

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
            behind = self.bank.hot + self.bank.cold + self._slots.first
            state[PLACE, cold] = behind + np.arange(len(cold))
            self.table.copy_(torch.from_numpy(state))
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

    def differing(self, index: int) -> bool:
        """Tell whether a staged row is not the cold one that it is of, in any tensor."""
        row, slot = int(self.rows[index]), self._slots.first + index
        return any(
            not torch.equal(_bytes(each.cold[row]), _bytes(_stage(each.stage)[slot]))
            for each in self.bank.tensors
        )


def _stage(rows: torch.Tensor | None) -> torch.Tensor:
    if rows is None:
        raise ValueError("the layer's rows have no staging buffer behind them")
    return rows


def _bytes(row: torch.Tensor) -> torch.Tensor:
    return row.reshape(-1).view(torch.uint8)
