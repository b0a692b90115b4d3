# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Our own code at every seam of the two banks."""

from collections.abc import Sequence

import torch

from expert_bank.glue.device_view import device_view
from expert_bank.glue.seams.kinds import MakeHostRows, MakeTable
from expert_bank.host_memory import HostMemory, in_place
from expert_bank.launched_copy import LaunchedCopy
from expert_bank.plan import Mode
from expert_bank.seams import Used
from expert_bank.swapping import Copy, Rows, plain_copy
from expert_bank.table import Table


def row_table(used: Used) -> MakeTable:
    """Make our table; each change of an entry counts."""

    def make(hot: Sequence[int], experts: int, device: torch.device, _mode: Mode) -> Table:
        table = Table(hot, experts, device)
        table.watchers.append(used.counted(_seen))
        return table

    return make


def row_copy(used: Used) -> Copy:
    """Copy by one launch on a CUDA device, and a tensor at a time elsewhere."""
    launched: dict[torch.device, LaunchedCopy] = {}

    def copy(to: Rows, source: Rows) -> None:
        device = to[0].device
        if device.type == "cpu":
            plain_copy(to, source)
        else:
            launched.setdefault(device, LaunchedCopy(device))(to, source)

    return used.counted(copy)


def host_rows(used: Used) -> MakeHostRows:
    """Look at our mappings as the device reads them."""

    def make(device: torch.device, node: int | None) -> HostMemory:
        view = used.counted(in_place if device.type == "cpu" else device_view)
        return HostMemory(wanted=node, view=view)

    return make


def _seen(_layer: int) -> None:
    """Stand where a change is told."""
