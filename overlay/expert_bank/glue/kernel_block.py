# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How many tokens of one expert share a read of its row, by the kernel that will run it."""

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import (
    UnquantizedFusedMoEMethod,
)

# FlashInfer's TRT-LLM kernels launch a block for each 8 tokens of an expert.
TRTLLM = 8
# Our own kernel's, while an expert has few picks; with more of them staging pays anyway.
ROW_POINTERS = 16


def block_of(layer: RoutedExperts, device: torch.device) -> int:
    """Tell it of a layer; on the CPU each pick is taken for a read."""
    if device.type == "cpu":
        return 1
    plain = isinstance(layer.quant_method, UnquantizedFusedMoEMethod)
    return ROW_POINTERS if plain else TRTLLM
