# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The rows of one layer's experts, in two banks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from expert_bank.table import COLD, HOT

Cold = Literal["mirror", "exclusive"]


@dataclass(frozen=True)
class RowTensor:
    """One ``[E, ...]`` tensor of a layer, apart.

    Attributes:
        name: Of the layer's parameter.
        hot: [H, ...] in device memory.
        cold: [C, ...] in host memory; the device reads it in place.
        whole: [H + C, ...], both, where they are one allocation; else None.
    """

    name: str
    hot: torch.Tensor
    cold: torch.Tensor
    whole: torch.Tensor | None


@dataclass(frozen=True)
class LayerBank:
    """One layer's rows; a row of an expert is its row of every tensor.

    Attributes:
        name: Of the layer.
        experts: E.
        cold_rows: Whether the cold bank has every expert's row, or only those that are not hot.
        tensors: In the layer's order.
    """

    name: str
    experts: int
    cold_rows: Cold
    tensors: tuple[RowTensor, ...]

    @property
    def hot(self) -> int:
        """H, the rows of the hot bank."""
        return self.tensors[0].hot.shape[0]

    @property
    def cold(self) -> int:
        """C, the rows of the cold bank."""
        return self.tensors[0].cold.shape[0]

    @property
    def mirrors(self) -> bool:
        """Tell whether expert e's cold row is row e, for every expert."""
        return self.cold_rows == "mirror" and self.cold > 0

    @property
    def row_bytes(self) -> int:
        """Bytes of one expert's row, over all tensors."""
        return sum(each.cold[0].nbytes if self.cold else each.hot[0].nbytes for each in self.tensors)

    def row(self, bank: int, row: int) -> list[torch.Tensor]:
        """Give a row of every tensor, as views."""
        return [(each.cold if bank == COLD else each.hot)[row] for each in self.tensors]

    def addresses(self) -> tuple[int, ...]:
        """Give the banks' addresses: what must not change while a graph holds them."""
        return tuple(
            side.data_ptr() for each in self.tensors for side in (each.hot, each.cold)
        )


def cold_count(experts: int, hot: int, cold_rows: Cold) -> int:
    """Count the cold bank's rows.

    Without a mirror there is a row to spare wherever anything can be swapped: a swap copies the
    hot expert out before the cold one takes its row, so that each has a whole row at all times.
    """
    if hot == experts:
        return 0
    return experts if cold_rows == "mirror" else experts - hot + (hot > 0)


def placed(
    hot_experts: Sequence[int], experts: int, cold_rows: Cold
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


