# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Binds a counter to every MoE layer of a model, or says why it cannot."""

from collections.abc import Iterator
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank.counter import PickCounter
from expert_bank.glue.experts import CountedExperts


def bind_counter(model: torch.nn.Module, vllm_config: Any, device: torch.device) -> PickCounter:  # noqa: ANN401 - vLLM's
    """Give every MoE layer of a loaded model its counts; before profiling and capture.

    Args:
        model: The target model; a draft model is another one and is not counted.
        vllm_config: The worker's configuration.
        device: Where the experts run.

    Raises:
        RuntimeError: The counts would not be exact, or nothing would be counted.
    """
    found = {
        name: module for name, module in model.named_modules() if isinstance(module, RoutedExperts)
    }
    layers = {name: layer for name, layer in found.items() if isinstance(layer, CountedExperts)}
    reasons = [*against_counting(vllm_config), *_of_layers(found)]
    if not found:
        reasons.append("the model has no MoE layer")
    if reasons:
        raise RuntimeError("moe_usage_counter cannot count here: " + "; ".join(reasons))
    (experts, k), *_ = {(layer.global_num_experts, layer.top_k) for layer in layers.values()}
    counter = PickCounter(tuple(layers), experts=experts, picks_per_token=k, device=device)
    counter.serves = True
    for layer, counts in zip(layers.values(), counter.counts, strict=True):
        layer.pick_counts = counts
        layer.scheduled_tokens = counter.scheduled
    return counter


def against_counting(vllm_config: Any) -> Iterator[str]:  # noqa: ANN401 - vLLM's
    """Yield what in a configuration stands against exact counts."""
    parallel = vllm_config.parallel_config
    if parallel.enable_expert_parallel:
        yield "expert parallelism is on (enable_expert_parallel)"
    if parallel.enable_eplb:
        yield "expert load balancing is on (enable_eplb)"
    if parallel.data_parallel_size > 1:
        yield "a forward holds other data-parallel ranks' tokens (data_parallel_size)"
    if getattr(parallel, "prefill_context_parallel_size", 1) > 1:
        yield "a forward holds other ranks' part of a prompt (prefill_context_parallel_size)"
    if parallel.use_ubatching:
        yield "a forward is split into micro-batches (enable_dbo or ubatch_size)"
    if vllm_config.lora_config is not None:
        yield "LoRA is on (enable_lora)"
    yield from _against_some_rows(vllm_config)


def _against_some_rows(vllm_config: Any) -> Iterator[str]:  # noqa: ANN401 - the same
    """Yield what has a layer run on other tokens than those that were scheduled."""
    drafting, cache = vllm_config.speculative_config, vllm_config.cache_config
    if getattr(drafting, "method", None) == "ngram_gpu":
        yield "ngram_gpu takes drafts back once a step is under way"
    if getattr(drafting, "enable_adaptive_verification", False):
        yield "drafts are cut once a step is under way (enable_adaptive_verification)"
    if getattr(cache, "kv_sharing_fast_prefill", False):
        yield "some layers leave out a prompt's tokens (kv_sharing_fast_prefill)"
    # vLLM itself has it on wherever this architecture can do it.
    if getattr(cache, "swa_bounded_replay", False) and _is_v41(vllm_config.model_config):
        yield (
            "the last layers of DeepSeek-V4.1 run on the end of a prompt alone (swa_bounded_replay;"
            " switch it off with --no-swa-bounded-replay)"
        )


def _is_v41(model_config: Any) -> bool:  # noqa: ANN401 - the same
    return any(name.startswith("DeepseekV41") for name in model_config.architectures)


def _of_layers(layers: dict[str, RoutedExperts]) -> Iterator[str]:
    """Yield which layers stand against exact counts, and why."""
    for name, layer in layers.items():
        if not isinstance(layer, CountedExperts):
            yield f"{name} is a {type(layer).__module__}.{type(layer).__qualname__}"
        elif layer.quant_method.is_monolithic:
            yield f"{name} routes inside its kernel ({type(layer.quant_method).__qualname__})"
    if len({(layer.global_num_experts, layer.top_k) for layer in layers.values()}) > 1:
        yield "its layers differ in their number of experts or of picks"
