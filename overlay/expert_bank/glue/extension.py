# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What a worker answers to ``collective_rpc`` about this package."""

import os
from typing import Any

from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank import __version__, pick_count
from expert_bank.glue import plugin


class WorkerExtension:
    """Methods that ``--worker-extension-cls`` adds to vLLM's worker.

    Attributes:
        vllm_config: The worker's own configuration, set by vLLM.
        model_runner: The worker's own, set by vLLM.
    """

    vllm_config: Any
    model_runner: Any

    def expert_bank_status(self) -> dict[str, Any]:
        """Report how this worker runs, as values that JSON can carry.

        Returns:
            ``plugin``: whether vLLM loaded the entry point in this process. ``version``: of this
            package. ``pid``: of the worker. ``moe_usage_counter``: the field of
            ``OffloadConfig``, or None where this vLLM does not have it. ``experts``: classes of
            the model's MoE layers. ``ops``: whether an op of ours is registered.
        """
        model = self.model_runner.get_model()
        classes = {type(each) for each in model.modules() if isinstance(each, RoutedExperts)}
        return {
            "plugin": plugin.registered(),
            "version": __version__,
            "pid": os.getpid(),
            "moe_usage_counter": getattr(
                self.vllm_config.offload_config, "moe_usage_counter", None
            ),
            "experts": sorted(f"{each.__module__}.{each.__qualname__}" for each in classes),
            "ops": pick_count.registered(),
        }

    def expert_bank_usage(self) -> dict[str, Any] | None:
        """Read the counts between two steps, as values that JSON can carry.

        Returns:
            None where nothing counts; else ``model``: what is served; ``layers``: L names;
            ``picks_per_token``: k; ``tokens``: scheduled since start, as the worker summed them; ``counts``: [L][E]
            picks since start.
        """
        counter = getattr(self, "pick_counter", None)
        if counter is None:
            return None
        return {
            "model": self.vllm_config.model_config.model,
            "layers": list(counter.layers),
            "picks_per_token": counter.picks_per_token,
            "tokens": counter.tokens,
            "counts": counter.snapshot().tolist(),
        }
