# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How fast the device reads host memory, and how fast it must."""

import platform

import torch

from expert_bank.host_memory import HostMemory
from expert_bank.probe import GRACE_FLOOR, SLICE, Reader, host_reader

# GPUs that sit beside a Grace CPU, on a link that reads as fast as its memory.
BESIDE_GRACE = ((9, 0), (10, 0), (10, 3))


def reader(memory: HostMemory, device: torch.device) -> Reader:
    """Make what the probe reads with: the device where there is one, else the CPU.

    Args:
        memory: Registered with the device; at least one mapping.
        device: That serves.
    """
    most = min(SLICE, max(each.asked for each in memory.mappings))
    if device.type == "cpu":
        return host_reader(most)
    scratch = torch.empty(most, dtype=torch.uint8, device=device)

    def read(address: int, length: int) -> None:
        pages = next(
            each for each in memory.mappings if each.address <= address < each.address + each.size
        )
        scratch[:length].copy_(pages.tensor(torch.uint8, (length,), address - pages.address))
        torch.cuda.synchronize(device)

    return read


def floor(device: torch.device, wanted: float | None) -> float | None:
    """Choose the least GB/s that a bank may be read at; None where it is only told.

    Args:
        device: That serves.
        wanted: What the run says; 0 for none.
    """
    if wanted is not None:
        return wanted or None
    if device.type == "cpu" or platform.machine() != "aarch64":
        return None
    return GRACE_FLOOR if torch.cuda.get_device_capability(device) in BESIDE_GRACE else None
