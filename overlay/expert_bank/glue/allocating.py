# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Where a model's banks are allocated: in one allocation, in two, or the cold rows in a file."""

from collections.abc import Callable

import torch

from expert_bank.allocation import Shapes, one_allocation
from expert_bank.bank import RowTensor
from expert_bank.cold_file import ColdFile
from expert_bank.config import BankConfig
from expert_bank.file_allocation import FileAllocation
from expert_bank.host_memory import HostMemory
from expert_bank.refused import Refused
from expert_bank.staging.pool import StagedAllocation
from expert_bank.two_allocations import TwoAllocations

# Of a layer's row shapes, H, C, and host memory.
Allocate = Callable[[Shapes, int, int, HostMemory], tuple[RowTensor, ...]]


def cold_file(config: BankConfig, device: torch.device) -> ColdFile | None:
    """Open the file of the cold rows; None where they are in host memory.

    Raises:
        Refused: The device is none that reads a file's rows in place, or the folder will not do.
    """
    if config.cold_rows != "file":
        return None
    if device.type != "cpu":
        raise Refused(
            f"moe_cold_rows file is for the CPU engine: {device.type} reads cold rows in place from"
            " host memory, and none from a file",
            hint="use moe_cold_rows mirror, or exclusive where the host has no room for that",
        )
    return ColdFile(config.folder, written=config.poison)


def allocate_on(device: torch.device, file: ColdFile | None, stage: int = 0) -> Allocate:
    """Choose how a layer's banks are allocated.

    Args:
        device: That serves.
        file: Where the cold rows go; None where that is host memory.
        stage: Rows of the staging buffer; 0 for none.
    """
    if file is not None:
        return FileAllocation(file)
    if device.type != "cpu":
        return TwoAllocations(device, stage=stage)
    return StagedAllocation(stage) if stage else one_allocation
