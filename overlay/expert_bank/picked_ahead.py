# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Asks for the cold rows of a layer's picks while its kernel has not touched one yet."""

from collections.abc import Callable

import torch

from expert_bank.bank import LayerBank
from expert_bank.table import Table
from expert_bank.table_layout import BANK, COLD, ROW

# Called with ids, int[T, k].
Asks = Callable[[torch.Tensor], None]
# By the address of a layer's table: compiled code gives an op that and no layer.
of_table: dict[int, Asks] = {}


def asks(bank: LayerBank, table: Table, layer: int) -> Asks:
    """Make what asks for a layer's rows; ids outside [0, E) are left out.

    Args:
        bank: Of the layer; it has ``ahead``.
        table: Where the experts are.
        layer: Its number.
    """
    state, experts, ahead = table.host[layer], bank.experts, bank.ahead
    if ahead is None:
        raise ValueError(f"{bank.name}: its cold rows are in memory")

    def ask(ids: torch.Tensor) -> None:
        for expert in set(ids.reshape(-1).tolist()):
            if 0 <= expert < experts and state[BANK, expert] == COLD:
                ahead(int(state[ROW, expert]))

    return ask
