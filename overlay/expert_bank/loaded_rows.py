# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Every expert's row as it was loaded, by its sums: what one holds is compared with that."""

from collections.abc import Sequence

import torch

from expert_bank.bank import LayerBank
from expert_bank.row_sums import row_sums
from expert_bank.table_layout import COLD


class LoadedRows:
    """Sums of all rows, and the banks that have them.

    Attributes:
        banks: Of all layers, in load order.
        sums: int64[E, tensors] of each layer, in host memory.
    """

    def __init__(self, banks: Sequence[LayerBank], sums: Sequence[torch.Tensor]) -> None:
        self.banks = tuple(banks)
        self.sums = tuple(each.cpu() for each in sums)

    def wrong(self, layer: int, expert: int, bank: int, row: int) -> str:
        """Say in which tensors a row is not the expert's; empty where it is."""
        held = self.banks[layer]
        found = [int(row_sums(each[None])[0]) for each in held.row(bank, row)]
        loaded = self.sums[layer][expert].tolist()
        names = [
            tensor.name
            for tensor, ours, theirs in zip(held.tensors, found, loaded, strict=True)
            if ours != theirs
        ]
        if not names:
            return ""
        return f"{self.told(layer, expert, bank, row)} of {', '.join(names)} is not what was loaded"

    def told(self, layer: int, expert: int, bank: int, row: int) -> str:
        """Name an expert and its row."""
        side = "cold" if bank == COLD else "hot"
        return f"{self.banks[layer].name}, expert {expert}: {side} row {row}"
