# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The rows of one layer's experts, in two banks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from expert_bank.plan import Mode, mirrored
from expert_bank.table_layout import COLD, HOT


@dataclass(frozen=True)
class RowTensor:
    """One ``[E, ...]`` tensor of a layer, apart.

    Attributes:
        name: Of the layer's parameter.
        hot: [H, ...] in device memory.
        cold: [C, ...] in host memory, or a file's; the device reads it in place.
        whole: [H + C, ...], both, where they are one allocation, and [H + C + S, ...] with the staging
            buffer behind them; else None.
        stage: [S, ...] in device memory, the rows of the buffer that all layers share; None where nothing
            is staged.
    """

    name: str
    hot: torch.Tensor
    cold: torch.Tensor
    whole: torch.Tensor | None
    stage: torch.Tensor | None = None


@dataclass(frozen=True)
class LayerBank:
    """One layer's rows; a row of an expert is its row of every tensor.

    Attributes:
        name: Of the layer.
        experts: E.
        cold_rows: Whether the cold bank has every expert's row, or only those that are not hot.
        tensors: In the layer's order.
        ahead: Called with a cold row before it is read; None where it is in memory.
    """

    name: str
    experts: int
    cold_rows: Mode
    tensors: tuple[RowTensor, ...]
    ahead: Callable[[int], None] | None = None

    @property
    def hot(self) -> int:
        """H, the rows of the hot bank."""
        return int(self.tensors[0].hot.shape[0])

    @property
    def cold(self) -> int:
        """C, the rows of the cold bank."""
        return int(self.tensors[0].cold.shape[0])

    @property
    def mirrors(self) -> bool:
        """Tell whether expert e's cold row is row e, for every expert."""
        return mirrored(self.cold_rows) and self.cold > 0

    @property
    def one_allocation(self) -> bool:
        """Tell whether both banks are one, in which vLLM's own kernel is given places."""
        return all(each.whole is not None for each in self.tensors)

    @property
    def row_bytes(self) -> int:
        """Bytes of one expert's row, over all tensors."""
        return sum(
            each.cold[0].nbytes if self.cold else each.hot[0].nbytes for each in self.tensors
        )

    def rows_of(self, bank: int) -> dict[str, torch.Tensor]:
        """Give a bank's rows of every tensor, by name."""
        return {each.name: each.cold if bank == COLD else each.hot for each in self.tensors}

    def row(self, bank: int, row: int) -> list[torch.Tensor]:
        """Give a row of every tensor, as views."""
        if bank == COLD and self.ahead is not None:
            self.ahead(row)
        return [(each.cold if bank == COLD else each.hot)[row] for each in self.tensors]

    def addresses(self) -> tuple[int, ...]:
        """Give the banks' addresses: what must not change while a graph holds them."""
        return tuple(side.data_ptr() for each in self.tensors for side in (each.hot, each.cold))


def placed(
    hot_experts: Sequence[int], experts: int, cold_rows: Mode
) -> tuple[list[int], list[int]]:
    """Give each expert its first bank and row.

    Args:
        hot_experts: Which are hot, in the order of the hot bank's rows; may be fewer than H.
        experts: E.
        cold_rows: See ``LayerBank``.

    Returns:
        Bank and row of every expert.
    """
    banks, rows = [COLD] * experts, list(range(experts))
    if cold_rows == "exclusive":
        cold = [each for each in range(experts) if each not in set(hot_experts)]
        for row, expert in enumerate(cold):
            rows[expert] = row
    for row, expert in enumerate(hot_experts):
        banks[expert], rows[expert] = HOT, row
    return banks, rows
