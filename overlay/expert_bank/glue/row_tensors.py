# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which tensors of a layer hold a row of each expert, and how the kernel is made to read a bank."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank.bank import LayerBank
from expert_bank.glue.against import FEATURE, INSTEAD, quantised_by
from expert_bank.refused import Refused

DEPTH = 5
# Of the router, which reads logical ids: they may have a row of each expert, and it stays.
ROUTED_BY = ("e_score_correction_bias", "hash_indices_table")


def row_tensors(layer: RoutedExperts) -> dict[str, torch.Tensor]:
    """Name the tensors that EPLB would move between ranks: vLLM's own list of expert rows.

    Returns:
        [E, ...] by the parameter's name, contiguous.

    Raises:
        Refused: There is none, or one is not a row of every expert, one after another.
    """
    try:
        moved = {each.data_ptr() for each in layer.get_expert_weights()}
    except (AssertionError, RuntimeError) as error:
        # It asserts that they lie one after another, and views each as [E, -1].
        odd = next(_odd(layer, layer.named_parameters()), f": vLLM cannot list its rows ({error})")
        raise _refused(layer, odd) from error
    found = {name: each.data for name, each in layer.named_parameters() if each.data_ptr() in moved}
    if not found:
        raise _refused(layer, " has no parameter with a row of each expert")
    for odd in _odd(layer, found.items()):
        raise _refused(layer, odd)
    return found


def require_own(layer: RoutedExperts, banks: Iterable[LayerBank]) -> None:
    """Let a layer go on whose rows no other layer has.

    Raises:
        Refused: A parameter of it is another layer's, which is in the banks already.
    """
    held = {
        (
            tensor.hot if tensor.whole is None else tensor.whole
        ).data_ptr(): f"{bank.name}.{tensor.name}"
        for bank in banks
        for tensor in bank.tensors
    }
    for name, each in layer.named_parameters():
        if each.numel() and (other := held.get(each.data_ptr())):
            raise _refused(
                layer, f".{name} is {other}, and an expert would be in two layers' banks"
            )


def serve_from(layer: RoutedExperts, bank: LayerBank) -> None:
    """Have a layer's kernel read the banks, and let the repacked rows go.

    Raises:
        Refused: The kernel holds expert rows that are none of the layer's parameters, so that it
            would go on reading the old ones.
    """
    old, moved = {}, set()
    for tensor in bank.tensors:
        parameter = getattr(layer, tensor.name)
        old[_storage(parameter)] = tensor.name
        moved.add(id(parameter))
        parameter.data = tensor.hot if tensor.whole is None else tensor.whole
    routers = [getattr(layer, name, None) for name in ROUTED_BY]
    stay = {_storage(each) for each in routers if each is not None}
    for path, tensor in reached(layer, DEPTH):
        if id(tensor) in moved or not tensor.numel() or _storage(tensor) in stay:
            continue
        if (name := old.get(_storage(tensor))) is not None:
            raise _refused(
                layer,
                f"{path} is a second reference to {name}, and would be read instead of the banks",
            )
        if tensor.dim() and tensor.shape[0] == bank.experts and not _alike(tensor):
            raise _refused(
                layer,
                f"{path} has a row of each expert and is none of the tensors that vLLM would move"
                " with them",
            )


def reached(holder: object, depth: int, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield every tensor that an object holds, by its path."""
    for name, held in _held(holder):
        where = f"{path}.{name}"
        if isinstance(held, torch.Tensor):
            yield where, held
        elif depth and type(held).__module__.startswith("vllm"):
            yield from reached(held, depth - 1, where)


def _held(holder: object) -> Iterator[tuple[str, Any]]:
    """Yield what an object of vLLM holds, dataclasses and lists included."""
    for name, held in list(getattr(holder, "__dict__", {}).items()):
        if name in ("_parameters", "_buffers", "_modules"):
            yield from held.items()
        elif isinstance(held, (list, tuple)):
            yield from ((f"{name}[{n}]", each) for n, each in enumerate(held))
        elif isinstance(held, dict):
            yield from ((f"{name}[{key!r}]", each) for key, each in held.items())
        else:
            yield name, held


def _odd(layer: RoutedExperts, parameters: Iterable[tuple[str, torch.Tensor]]) -> Iterator[str]:
    """Yield which of a layer's parameters are not plain rows of its experts."""
    for name, each in parameters:
        if name in ROUTED_BY or not each.dim():
            continue
        if each.shape[0] != layer.global_num_experts or not each.is_contiguous():
            yield (
                f".{name} has shape {tuple(each.shape)}, strides {each.stride()}, and no row of each"
                f" of {layer.global_num_experts} experts, one after another"
            )


def _refused(layer: RoutedExperts, what: str) -> Refused:
    how = quantised_by(layer, layer.quant_method)
    return Refused(f"{FEATURE}: {layer.layer_name}{what} ({how})", hint=INSTEAD)


def _alike(tensor: torch.Tensor) -> bool:
    """Tell whether every expert has the same: a limit of an activation, which need not move."""
    return bool((tensor == tensor[:1]).all())


def _storage(tensor: torch.Tensor) -> int:
    """Give the address of the memory that a tensor is a view of."""
    return int(tensor.untyped_storage().data_ptr())
