# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What stands against two banks, in a configuration, in layers and in a model that was loaded."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.fused_moe_method_base import FusedMoEMethodBase
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank.refused import Refused

FEATURE = "moe_hot_experts"
INSTEAD = f"change that, or start without {FEATURE}"
LOAD_FORMATS = ("auto", "safetensors")
# vLLM's own mechanism of its sleep mode.
CUMEM = "cumem"


def require(reasons: Iterable[str]) -> None:
    """Go on where nothing stands against it.

    Raises:
        Refused: Something does; the message has all of it.
    """
    if found := list(reasons):
        raise Refused(
            f"{FEATURE}: experts cannot be kept in two banks here: " + "; ".join(found),
            hint=INSTEAD,
        )


def against_loading(vllm_config: Any) -> Iterator[str]:  # noqa: ANN401 - vLLM's
    """Yield what in a configuration stands against loading layer by layer, or staying so."""
    load_format = vllm_config.load_config.load_format
    load_format = getattr(load_format, "value", load_format)
    if load_format not in LOAD_FORMATS:
        yield (
            f"load_format {load_format} does not load weight by weight, as"
            f" {' and '.join(LOAD_FORMATS)} do"
        )
    offload = vllm_config.offload_config
    if offload.uva.cpu_offload_gb or offload.prefetch.offload_group_size:
        yield (
            "vLLM's own offloading is on (cpu_offload_gb or offload_group_size), and would move the"
            " same weights"
        )
    parallel = vllm_config.parallel_config
    if parallel.tensor_parallel_size > 1:
        yield (
            f"tensor parallelism is on (tensor_parallel_size {parallel.tensor_parallel_size}), and"
            " no table is shared between its ranks"
        )
    if parallel.pipeline_parallel_size > 1:
        yield (
            "pipeline parallelism is on (pipeline_parallel_size"
            f" {parallel.pipeline_parallel_size}), and no rank has all layers"
        )
    yield from _against_sleep_mode(vllm_config)
    if vllm_config.weight_transfer_config is not None:
        yield "weights are to be updated while serving (weight_transfer_config)"


def _against_sleep_mode(vllm_config: Any) -> Iterator[str]:  # noqa: ANN401 - the same
    model, device = vllm_config.model_config, vllm_config.device_config.device_type
    if not model.enable_sleep_mode:
        return
    if device != "cuda":
        yield f"sleep mode is on (enable_sleep_mode), and the banks cannot sleep on {device}"
    elif (backend := getattr(model, "sleep_mode_backend", CUMEM)) != CUMEM:
        yield (
            f"sleep mode is on (enable_sleep_mode) by {backend} (sleep_mode_backend), and only of"
            f" {CUMEM} it is known what the banks lose"
        )
    # Copied again beside all that is kept, into host memory that nobody has counted.
    if getattr(model, "sleep_preserve_parameter_names", None):
        yield (
            "parameters are to outlast a sleep by name (sleep_preserve_parameter_names), and with two"
            " banks all of them do"
        )


def against_method(layer: RoutedExperts, method: FusedMoEMethodBase) -> Iterator[str]:
    """Yield what stands against a layer's quantisation method, before it has made anything.

    An online method keeps a layer's weights until the last has come and quantises them then, in
    place of the loader that would fill the banks.
    """
    if getattr(method, "uses_meta_device", False):
        yield f"{layer.layer_name} is quantised while it is loaded ({quantised_by(layer, method)})"


def quantised_by(layer: RoutedExperts, method: FusedMoEMethodBase) -> str:
    """Name how a layer is quantised: vLLM's ``quantization``, and the class that does it."""
    name = "None" if layer.quant_config is None else layer.quant_config.get_name()
    return f"quantization {name}, {type(method).__qualname__}"


def against_layers(layers: Sequence[RoutedExperts]) -> Iterator[str]:
    """Yield what stands against the layers of one model, none of which is loaded yet."""
    for layer in layers:
        if layer.quant_method.is_monolithic:
            yield _routes_inside(layer)
    for layer in layers:
        first, its = _shape(layers[0]), _shape(layer)
        if its != first:
            yield (
                f"{layer.layer_name} has {its}, and {layers[0].layer_name} {first}: all layers must"
                " be alike"
            )


def against_model(model: torch.nn.Module, banked: Sequence[RoutedExperts]) -> Iterator[str]:
    """Yield what stands against a model that is loaded.

    Args:
        model: That is served.
        banked: The layers that were loaded into banks.
    """
    ours = {id(layer) for layer in banked}
    found = {id(module): module for module in model.modules() if isinstance(module, RoutedExperts)}
    if not found:
        yield "the model has no MoE layer"
    for number, layer in found.items():
        if number not in ours:
            kind = type(layer)
            yield (
                f"{layer.layer_name} is a {kind.__module__}.{kind.__qualname__}, and was not loaded"
                " into banks"
            )
        elif layer.quant_method.is_monolithic:
            yield _routes_inside(layer)
    for layer in banked:
        if id(layer) not in found:
            yield f"{layer.layer_name} is none of the served model's layers, and was loaded first"


def _routes_inside(layer: RoutedExperts) -> str:
    how = quantised_by(layer, layer.quant_method)
    return f"{layer.layer_name} routes inside its kernel ({how})"


def _shape(layer: RoutedExperts) -> str:
    return f"{layer.global_num_experts} experts and {layer.top_k} picks a token"
