# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A layer's repacked rows, taken apart into its banks."""

from collections.abc import Sequence

import torch

from expert_bank.bank import LayerBank
from expert_bank.table import COLD, HOT


def fill(bank: LayerBank, repacked: Sequence[torch.Tensor], placed: Sequence[tuple[int, int]]) -> None:
    """Copy every expert's row to where the table will send its picks, and into the mirror.

    Row by row: gathering the hot rows first would take as much again beside the repacked layer.

    Args:
        bank: Of the layer.
        repacked: [E, ...] per row tensor, in the bank's order.
        placed: Bank and row of each expert.
    """
    for tensor, source in zip(bank.tensors, repacked, strict=True):
        for expert, (where, row) in enumerate(placed):
            if where == HOT:
                tensor.hot[row].copy_(source[expert])
            if where == COLD:
                tensor.cold[row].copy_(source[expert])
            elif bank.mirrors:
                tensor.cold[expert].copy_(source[expert])
