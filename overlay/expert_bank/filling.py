# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A layer's repacked rows, taken apart into its banks."""

from collections.abc import Sequence

import torch

from expert_bank.bank import LayerBank
from expert_bank.table_layout import COLD, HOT


def fill(
    bank: LayerBank, repacked: Sequence[torch.Tensor], placed: Sequence[tuple[int, int]]
) -> None:
    """Copy every expert's row to where the table will send its picks, and into the mirror.

    Row by row: gathering the hot rows first would take as much again beside the repacked layer.
    Rows that nothing is copied to are zeroed: a page that was never written to is on no node yet.

    Args:
        bank: Of the layer.
        repacked: [E, ...] per row tensor, in the bank's order.
        placed: Bank and row of each expert.
    """
    hot = {row for where, row in placed if where == HOT}
    cold = {row for where, row in placed if where == COLD}
    for tensor, source in zip(bank.tensors, repacked, strict=True):
        for rows, used in ((tensor.hot, hot), (tensor.cold, cold)):
            for row in set(range(len(rows))) - used:
                rows[row].zero_()
        for expert, (where, row) in enumerate(placed):
            if where == HOT:
                tensor.hot[row].copy_(source[expert])
            if where == COLD:
                tensor.cold[row].copy_(source[expert])
            elif bank.mirrors:
                tensor.cold[expert].copy_(source[expert])
