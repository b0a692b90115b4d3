# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Loads a worker's model into two banks, or says why it cannot."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from vllm.logger import init_logger

from expert_bank.config import BankConfig
from expert_bank.glue.against import FEATURE, against_loading, against_model, require
from expert_bank.glue.banked import BankedExperts
from expert_bank.glue.binding import against_counting
from expert_bank.glue.current import loading
from expert_bank.glue.install import install
from expert_bank.glue.layer_run import layer_run
from expert_bank.glue.loading import Loading
from expert_bank.glue.serving import against_serving, count_late, read_ahead
from expert_bank.refused import Refused
from expert_bank.self_check import (
    map_variant,
    mixed_layers,
    one_of_each_size,
    stage_variant,
    staged_layers,
    token_counts,
)
from expert_bank.staging.room import FIELD
from expert_bank.two_bank import TwoBank
from expert_bank.watch import Watch

logger = init_logger(f"vllm.{__name__}")

MAP_HINT = "this kernel's output depends on where a row is; all experts must be resident"
STAGE_HINT = f"this kernel's output depends on where a row is; take {FIELD} out"


def load_banked(worker: Any, config: BankConfig, load: Callable[[], None]) -> TwoBank:  # noqa: ANN401 - vLLM's
    """Load a model with its experts in two banks.

    Args:
        worker: vLLM's worker.
        config: What is asked for.
        load: vLLM's own way to load the worker's models.

    Raises:
        Refused: This cannot be done in this engine, or not exactly; the message says what stands
            against it.
    """
    require([*against_counting(worker.vllm_config), *against_loading(worker.vllm_config)])
    install(BankedExperts, FEATURE)
    current = Loading(config, worker, logger.info)
    with loading(current):
        load()
    model = worker.model_runner.get_model()
    require(
        [*against_model(model, current.layers), *against_serving(current.layers, worker.device)]
    )
    two_bank = current.whole(_drain(worker.device))
    two_bank.counter.serves = True
    if worker.device.type == "cpu" and worker.vllm_config.model_config.enforce_eager:
        count_late(current.layers, two_bank)
    read_ahead(current.layers, two_bank)
    two_bank.plan = current.layout.plan
    if two_bank.unstaged:
        logger.warning("expert_bank: %s: nothing is staged: %s", FIELD, two_bank.unstaged)
    if two_bank.staging is not None:
        two_bank.staging.warn = lambda line: logger.warning("expert_bank: %s", line)
    two_bank.resident = tuple(current.resident)
    for name in two_bank.resident:
        logger.info("expert_bank: %s is a draft model's, and stays resident", name)
    return two_bank


def map_invariance(
    two_bank: TwoBank,
    model: torch.nn.Module,
    vllm_config: Any,  # noqa: ANN401 - vLLM's
) -> Iterator[str]:
    """Yield what is wrong with each layer of a model in turn: empty where nothing is.

    Raises:
        Refused: A bank is not of one layer of the model.
    """
    layers = _layers(two_bank, model)
    run = layer_run(layers, vllm_config)
    mixed, staged = mixed_layers(two_bank), staged_layers(two_bank)
    for layer in sorted({*mixed, *staged}):
        found = map_variant(two_bank, run, layer) if layer in mixed else []
        yield "; ".join([*found, *(stage_variant(two_bank, run, layer) if layer in staged else [])])


def watch(two_bank: TwoBank, config: BankConfig, vllm_config: Any) -> None:  # noqa: ANN401 - vLLM's
    """Tell from here on how the map does: in the log, and in the stats file if there is one."""
    model = vllm_config.model_config
    two_bank.watch = Watch(
        two_bank,
        model.model,
        served_as=model.served_model_name,
        engine=vllm_config.parallel_config.data_parallel_index,
        file=config.stats,
        tell=lambda line: logger.info("expert_bank: %s", line),
        warn=lambda line: logger.warning("expert_bank: %s", line),
    )


def before_forward(two_bank: TwoBank) -> None:
    """Stand before a forward, and tell what failed at its barrier and how the map does.

    Raises:
        Refused: The engine sleeps; the forward would read memory that is not there.
    """
    two_bank.require_awake("a forward was scheduled")
    barrier = two_bank.barrier
    failed = barrier.totals.failed
    barrier.forward()
    if barrier.totals.failed > failed:
        logger.warning("expert_bank: %s", barrier.failures[-1])
    if two_bank.watch is not None:
        two_bank.watch.forward()


def require_map_invariance(
    two_bank: TwoBank,
    model: torch.nn.Module,
    vllm_config: Any,  # noqa: ANN401 - vLLM's
) -> None:
    """Check a layer of each pair of bank sizes, over all numbers of tokens that may matter.

    Raises:
        Refused: Its output moves with the map, or once its rows are staged; or a bank is not of one layer of the model.
    """
    layers = _layers(two_bank, model)
    most = vllm_config.scheduler_config.max_num_batched_tokens
    checks = (
        (FEATURE, map_variant, mixed_layers(two_bank), "the map", MAP_HINT),
        (FIELD, stage_variant, staged_layers(two_bank), "what is staged", STAGE_HINT),
    )
    for feature, check, asked, what, hint in checks:
        for layer in one_of_each_size(two_bank, asked):
            counts = token_counts(two_bank.swapper.banks[layer], most)
            for tokens in counts:
                run = layer_run(layers, vllm_config, tokens)
                if wrong := "; ".join(check(two_bank, run, layer)):
                    raise Refused(f"{feature}: self-check over {tokens} tokens: {wrong}", hint=hint)
            logger.info(
                "expert_bank: %s over %s tokens does not tell %s",
                layers[layer].layer_name,
                ", ".join(map(str, counts)),
                what,
            )
    if not mixed_layers(two_bank):
        logger.info("expert_bank: no layer has both hot and cold experts")


def _layers(two_bank: TwoBank, model: torch.nn.Module) -> list[BankedExperts]:
    """Find the layer of each bank by its name: modules need not be in load order."""
    found: dict[str, list[BankedExperts]] = {}
    for each in model.modules():
        if isinstance(each, BankedExperts):
            found.setdefault(each.layer_name, []).append(each)
    names = [bank.name for bank in two_bank.swapper.banks]
    if wrong := [name for name in names if len(found.get(name, ())) != 1]:
        raise Refused(
            f"{FEATURE}: self-check: the model has no layer, or several, of a bank's name:"
            f" {', '.join(wrong)}",
            hint="start without moe_hot_experts",
        )
    return [found[name][0] for name in names]


def _drain(device: torch.device) -> Callable[[], None]:
    """Give what waits until the device has done all that is enqueued."""
    if device.type == "cpu":
        return lambda: None
    return lambda: torch.accelerator.synchronize(device)
