# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Host rows as the device reads them, by vLLM's own view."""

import torch
from vllm.utils.torch_utils import get_accelerator_view_from_cpu_tensor


def device_view(rows: torch.Tensor) -> torch.Tensor:
    """Look at registered host memory as the device does."""
    view: torch.Tensor = get_accelerator_view_from_cpu_tensor(rows)
    return view
