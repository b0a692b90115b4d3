# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Every expert's row as it was loaded, by its sums: what one holds is compared with that."""

from collections.abc import Iterator, Mapping, Sequence

import torch

from expert_bank.bank import LayerBank
from expert_bank.row_sums import row_sums, tensor_sums
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
        found = [int(row_sums(each[None])[0]) for each in self.banks[layer].row(bank, row)]
        return self._said(layer, expert, bank, row, found)

    def wrong_among(self, layer: int, bank: int, rows: Mapping[int, int]) -> Iterator[str]:
        """Say the same of many rows of a bank, all of which are read; the device is asked once.

        Args:
            layer: Place of the layer in load order.
            bank: ``HOT`` or ``COLD``.
            rows: Of each expert in question, in that bank.

        Yields:
            A line for each that is not its expert's.
        """
        if rows:
            sides = [each.cold if bank == COLD else each.hot for each in self.banks[layer].tensors]
            found = tensor_sums(sides).cpu()
            for expert, row in rows.items():
                if said := self._said(layer, expert, bank, row, found[row].tolist()):
                    yield said

    def _said(self, layer: int, expert: int, bank: int, row: int, found: Sequence[int]) -> str:
        """Compare a row's sums, one of each tensor."""
        loaded = self.sums[layer][expert].tolist()
        names = [
            tensor.name
            for tensor, ours, theirs in zip(self.banks[layer].tensors, found, loaded, strict=True)
            if ours != theirs
        ]
        if not names:
            return ""
        return f"{self.told(layer, expert, bank, row)} of {', '.join(names)} is not what was loaded"

    def told(self, layer: int, expert: int, bank: int, row: int) -> str:
        """Name an expert and its row."""
        side = "cold" if bank == COLD else "hot"
        return f"{self.banks[layer].name}, expert {expert}: {side} row {row}"
