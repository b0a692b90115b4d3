# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""CUDA's own calls that make host memory known to the device, as ``registration`` wants them."""

import torch


def register_with_cuda(address: int, length: int) -> int:
    """Lock host memory and map it for the device; CUDA's status, 0 where it went well."""
    return int(torch.cuda.cudart().cudaHostRegister(address, length, 0))


def unregister_with_cuda(address: int) -> int:
    """Take it back; CUDA's status."""
    return int(torch.cuda.cudart().cudaHostUnregister(address))
