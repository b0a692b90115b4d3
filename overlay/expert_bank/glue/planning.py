# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The plan of the model that is about to be loaded, from what is measured on this machine."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank.glue.kv_cache import KvToken
from expert_bank.glue.row_tensors import ROUTED_BY
from expert_bank.layer_shape import LayerShape
from expert_bank.pages import page_bytes
from expert_bank.plan import Mode, Plan
from expert_bank.remedy import free_on_cpu


def row_bytes(layer: RoutedExperts) -> dict[str, int]:
    """Bytes of one expert's row by parameter, as the checkpoint has it; repacking may pad it."""
    return {
        name: each[0].nbytes
        for name, each in layer.named_parameters()
        if name not in ROUTED_BY and each.dim() and each.shape[0] == layer.global_num_experts
    }


def planned(
    layers: Sequence[RoutedExperts],
    hot: Sequence[int],
    mode: Mode,
    device: torch.device,
    *,
    host: int,
    other: int,
    token: KvToken,
    file: int = 0,
    stage: str = "",
    tables: int = 0,
    loader: int = 0,
) -> Plan:
    """Plan the banks of layers that are built and not loaded.

    Args:
        layers: In load order.
        hot: H of each.
        mode: Of the cold rows.
        device: Where the hot rows go.
        host: Bytes that host memory had left before the model was built.
        other: Bytes of the weights that are no experts; they have their room on the device.
        token: What one takes of the KV cache.
        file: Bytes that the folder of the cold rows' file has left.
        stage: The staging buffer, as ``moe_prefill_stage`` asks for it.
        tables: Bytes of the model's own tables in host memory.
        loader: Bytes of files that the loader has there at once.
    """
    shapes = [_shape(layer) for layer in layers]
    plan = Plan(
        layers=tuple(shapes),
        hot=tuple(hot),
        mode=mode,
        page=page_bytes(),
        stage=stage,
        other=other,
        free_device=0,
        free_host=max(0, host),
        kv_per_token=token.bytes,
        kv_packed=token.packed,
        free_file=file,
        tables_on_host=tables,
        loader=loader,
    )
    if device.type == "cpu":
        return replace(plan, free_device=free_on_cpu(plan))
    # The other weights are out of what is free by now, and the plan has them as a term.
    return replace(plan, free_device=torch.cuda.mem_get_info(device)[0] + other)


def with_waiting(plan: Plan, layers: int, device: torch.device) -> Plan:
    """Plan again for a checkpoint that makes more layers wait raw in host memory.

    Args:
        plan: As it was before.
        layers: How many wait at once.
        device: Where the hot rows go.
    """
    more = replace(plan, waiting=layers)
    return replace(more, free_device=free_on_cpu(more)) if device.type == "cpu" else more


def _shape(layer: RoutedExperts) -> LayerShape:
    rows = row_bytes(layer)
    whole = sum(rows.values()) * layer.global_num_experts
    return LayerShape(layer.global_num_experts, layer.top_k, rows, whole, whole)
