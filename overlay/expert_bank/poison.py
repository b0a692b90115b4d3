# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Test mode: every copy that no entry points to is NaN, so that reading the wrong one shows."""

from collections.abc import Sequence

import torch

from expert_bank.bank import LayerBank
from expert_bank.swapping import Swapper
from expert_bank.table_layout import COLD, HOT

# Not a number in every float format, in e8m0 scales, too; the largest where a weight has none.
NAN = 0xFF


class Poison:
    """Keeps another copy of every row, and poisons those that are not to be read.

    Attributes:
        pristine: [E, ...] per tensor of each layer, in host memory.
    """

    def __init__(self, swapper: Swapper) -> None:
        self.swapper = swapper
        self.pristine = [self._copies(layer) for layer in range(len(swapper.banks))]
        swapper.vacated = self.vacated
        swapper.wanted = self.wanted
        for layer, bank in enumerate(swapper.banks):
            used = {swapper.table.where(layer, expert) for expert in range(bank.experts)}
            for where, rows in ((HOT, bank.hot), (COLD, bank.cold)):
                for row in range(rows):
                    if (where, row) not in used:
                        self.vacated(layer, where, row)

    def vacated(self, layer: int, bank: int, row: int) -> None:
        """Poison a row."""
        for each in self.swapper.banks[layer].row(bank, row):
            each.reshape(-1).view(torch.uint8).fill_(NAN)

    def wanted(self, layer: int, expert: int) -> None:
        """Restore an expert's mirror row before it is read again."""
        rows = self.swapper.banks[layer].row(COLD, expert)
        for row, pristine in zip(rows, self.pristine[layer], strict=True):
            row.copy_(pristine[expert])

    def _copies(self, layer: int) -> Sequence[torch.Tensor]:
        bank: LayerBank = self.swapper.banks[layer]
        places = [self.swapper.table.where(layer, expert) for expert in range(bank.experts)]
        rows = [bank.row(*place) for place in places]
        return [torch.stack([row.cpu() for row in each]) for each in zip(*rows, strict=True)]
