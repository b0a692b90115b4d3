# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which tensors of a layer hold a row of each expert, and how the kernel is made to read a bank."""

from collections.abc import Iterator
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank.bank import LayerBank
from expert_bank.refused import Refused

DEPTH = 4


def row_tensors(layer: RoutedExperts) -> dict[str, torch.Tensor]:
    """Name the tensors that EPLB would move between ranks: vLLM's own list of expert rows.

    Returns:
        [E, ...] by the parameter's name, contiguous.

    Raises:
        Refused: One of them is not a row of every expert, one after another.
    """
    moved = {each.data_ptr() for each in layer.get_expert_weights()}
    found = {name: each.data for name, each in layer.named_parameters() if each.data_ptr() in moved}
    for name, each in found.items():
        if each.shape[0] != layer.global_num_experts or not each.is_contiguous():
            raise Refused(
                f"{layer.layer_name}.{name} has shape {tuple(each.shape)}, strides"
                f" {each.stride()}, and no row of each of {layer.global_num_experts} experts"
            )
    return found


def serve_from(layer: RoutedExperts, bank: LayerBank) -> None:
    """Have a layer's kernel read the banks, and let the repacked rows go.

    Raises:
        Refused: The kernel holds expert rows that are none of the layer's parameters, so that it
            would go on reading the old ones.
    """
    old = {}
    for tensor in bank.tensors:
        parameter = getattr(layer, tensor.name)
        old[parameter.data_ptr()] = tensor.name
        parameter.data = tensor.hot if tensor.whole is None else tensor.whole
    for path, tensor in reached(layer.quant_method, "quant_method", DEPTH):
        if tensor.data_ptr() in old and tensor.numel():
            raise Refused(
                f"{layer.layer_name}.{path} is a second reference to {old[tensor.data_ptr()]}, and"
                " would be read instead of the banks"
            )
        of_experts = tensor.dim() and tensor.shape[0] == bank.experts
        if of_experts and not _known(layer, tensor) and not _alike(tensor):
            raise Refused(
                f"{layer.layer_name}.{path} has a row of each expert and is none of the layer's"
                " parameters, so that it would not move with them"
            )


def reached(holder: object, path: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield every tensor that an object holds, by its path."""
    for name, held in _held(holder):
        where = f"{path}.{name}"
        if isinstance(held, torch.Tensor):
            yield where, held
        elif depth and type(held).__module__.startswith("vllm"):
            yield from reached(held, where, depth - 1)


def _held(holder: object) -> Iterator[tuple[str, Any]]:
    """Yield what an object of vLLM holds, dataclasses and lists included."""
    for name, held in list(getattr(holder, "__dict__", {}).items()):
        if isinstance(held, (list, tuple)):
            yield from ((f"{name}[{n}]", each) for n, each in enumerate(held))
        elif isinstance(held, dict):
            yield from ((f"{name}[{key!r}]", each) for key, each in held.items())
        else:
            yield name, held


def _alike(tensor: torch.Tensor) -> bool:
    """Tell whether every expert has the same: a limit of an activation, which need not move."""
    return bool((tensor == tensor[:1]).all())


def _known(layer: RoutedExperts, tensor: torch.Tensor) -> bool:
    return any(tensor is each for each in layer.parameters())
