# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One MoE layer run by itself, for the self-check at start."""

from collections.abc import Callable, Sequence

import torch
from vllm.forward_context import set_forward_context

from expert_bank.glue.banked import BankedExperts
from expert_bank.refused import Refused
from expert_bank.self_check import TOKENS

SEED = 20261130


def layer_run(
    layers: Sequence[BankedExperts], vllm_config: object, tokens: int = TOKENS
) -> Callable[[int, list[int]], torch.Tensor]:
    """Make what runs a layer over fixed random tokens that pick the given experts first.

    Nothing is counted: no token is scheduled meanwhile. What is returned raises Refused where the
    model would have to finalize; upstream does so with tensor parallelism alone, which is refused.
    """

    def run(number: int, experts: list[int]) -> torch.Tensor:
        layer = layers[number]
        draw = torch.Generator().manual_seed(SEED)
        device = layer.w13_weight.device
        others = [e for e in range(layer.global_num_experts) if e not in experts]
        picked = [*experts, *others][: layer.top_k]
        x = torch.randn(tokens, layer.hidden_size, generator=draw)
        weights = torch.rand(tokens, layer.top_k, generator=draw)
        dtype = layer.quant_method.topk_indices_dtype or torch.int32
        ids = torch.tensor([picked] * tokens, dtype=dtype)
        with torch.inference_mode(), set_forward_context(None, vllm_config):
            found = layer.forward_modular(
                x.to(device, layer.moe_config.in_dtype), weights.to(device), ids.to(device)
            )
        if not isinstance(found, torch.Tensor):
            raise Refused(
                f"{layer.layer_name} leaves its finalize to the model ({type(found).__name__}), and"
                " cannot be asked by itself",
                hint="start without moe_hot_experts",
            )
        return found

    return run
