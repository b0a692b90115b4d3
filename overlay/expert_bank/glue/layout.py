# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How a model is laid out over two banks, before the first row of it is loaded."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank.cold_file import ColdFile
from expert_bank.config import BankConfig
from expert_bank.fits import plan_lines, require_fits
from expert_bank.glue.against import against_layers, require
from expert_bank.glue.built import other_weights
from expert_bank.glue.captured import most_captured
from expert_bank.glue.first_map import first_map
from expert_bank.glue.host_terms import loader_bytes, other_tables
from expert_bank.glue.kernel_block import block_of
from expert_bank.glue.kv_cache import kv_token
from expert_bank.glue.planning import planned, row_bytes
from expert_bank.host_budget import HostBudget
from expert_bank.hot import hot_rows
from expert_bank.locking import require_lockable
from expert_bank.plan import Plan
from expert_bank.recovery_line import recovery_line
from expert_bank.staging.lines import stage_lines
from expert_bank.staging.room import StageRoom
from expert_bank.staging.threshold import Cold, null_share
from expert_bank.swap_bytes import require_swap


@dataclass(frozen=True)
class Layout:
    """What is decided of a model.

    Attributes:
        experts: E of every layer.
        picks: k, how many of them a token gets.
        hot: H of each layer.
        map: As ``boot_map`` has it.
        plan: It fits.
        stage: Room of the staging buffer; None where none is asked for.
        block: Tokens of one expert that share a read of its row.
    """

    experts: int
    picks: int
    hot: tuple[int, ...]
    map: list[list[int]]
    plan: Plan
    stage: StageRoom | None
    block: int


def lay_out(
    layers: Sequence[RoutedExperts],
    config: BankConfig,
    worker: Any,  # noqa: ANN401 - vLLM's
    *,
    host: HostBudget,
    file: ColdFile | None,
    built: Iterable[torch.nn.Module],
    tell: Callable[[str], None],
) -> Layout:
    """Lay out a model that is built, and of whose experts nothing is there.

    Args:
        layers: In load order.
        config: What is asked for.
        worker: vLLM's worker.
        host: What its memory had left before the model was built.
        file: Where the cold rows go, where they go into one; its room is taken.
        built: All modules of the model, at least those that have parameters.
        tell: Called with each line for people.

    Raises:
        Refused: The model cannot be kept in two banks, or not as it is asked for; or the map is to
            follow, and the bytes of a barrier take no swap.
    """
    require(against_layers(layers))
    of_each, of_token = layers[0].global_num_experts, layers[0].top_k
    sizes = [sum(row_bytes(layer).values()) for layer in layers]
    hot = hot_rows(config.hot_experts, experts=[of_each] * len(layers), row_bytes=sizes)
    vllm_config = worker.vllm_config
    model = vllm_config.model_config
    plan = planned(
        layers,
        hot,
        config.cold_rows,
        worker.device,
        host=host.left,
        other=other_weights(built, worker.device),
        token=kv_token(worker),
        file=0 if file is None else file.room,
        stage=config.prefill_stage,
        tables=other_tables(built, worker.device),
        loader=loader_bytes(vllm_config.load_config, model.model, model.revision),
    )
    stage = plan.room
    for line in host.lines():
        tell(f"host memory left: {line}")
    for line in plan_lines(plan):
        tell(line)
    block = block_of(layers[0], worker.device)
    if stage is not None:
        cold, share = Cold.of(stage.layers, of_token, block), null_share(stage.layers, of_each)
        replayed = most_captured(vllm_config)
        most = vllm_config.scheduler_config.max_num_batched_tokens
        told = stage_lines(stage, cold, share, plan.kv_per_token, replayed=replayed, most=most)
        for line in told:
            tell(line)
    if config.follow is not None:
        rows = {
            layer.layer_name: size
            for layer, size, each in zip(layers, sizes, hot, strict=True)
            if 0 < each < of_each
        }
        require_swap(config.follow.bytes, rows, plan.mode)
        sequences = vllm_config.scheduler_config.max_num_seqs
        tell(recovery_line(plan, config.follow, sequences=sequences))
    require_fits(plan, on_cpu=worker.device.type == "cpu")
    if file is not None:
        require_lockable(plan.locked)
        file.reserve(plan.file)
    names = {layer.layer_name: of_each for layer in layers}
    served = vllm_config.model_config.model
    first = first_map(config, names, hot, served, tell)
    return Layout(of_each, of_token, hot, first, plan, stage, block)
