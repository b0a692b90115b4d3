"""Weights of a layer, laid out over two banks by a map; whatever no expert owns is NaN."""

import torch
from checks import DEVICE

from expert_bank.row_address import expert_addresses, row_bytes
from expert_bank.table_layout import BANK, COLD, ROW


def poisoned(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    """Rows that show when they are read."""
    return torch.full(shape, torch.nan, dtype=dtype, device=DEVICE)


def row_addresses(rows: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Addresses of rows of one bank, int64[n], by their numbers."""
    return index.to(DEVICE, torch.int64) * row_bytes(rows) + rows.data_ptr()


class Banks:
    """One row tensor in two allocations, between which memory is poisoned too.

    Attributes:
        hot: [H, ...]. cold: [C, ...].
    """

    def __init__(self, hot: int, cold: int, weights: torch.Tensor) -> None:
        self.weights = weights.to(DEVICE)
        self.hot = poisoned(hot, *weights.shape[1:], dtype=weights.dtype)
        self._between = poisoned(7, *weights.shape[1:], dtype=weights.dtype)
        self.cold = poisoned(cold, *weights.shape[1:], dtype=weights.dtype)

    def lay(self, table: torch.Tensor) -> torch.Tensor:
        """Put every expert's row where a map has it; int64[E], their addresses."""
        self.hot.fill_(torch.nan)
        self.cold.fill_(torch.nan)
        for expert, (bank, row) in enumerate(table[[BANK, ROW]].t().tolist()):
            (self.cold if bank == COLD else self.hot)[row] = self.weights[expert]
        return self.addresses(table)

    def addresses(self, table: torch.Tensor) -> torch.Tensor:
        """int64[E], where a map says that rows are."""
        return expert_addresses(table.to(DEVICE), self.hot, self.cold)
