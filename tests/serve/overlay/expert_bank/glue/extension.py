import os
from typing import Any

from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from . import experts, plugin


class WorkerExtension:
    vllm_config: Any
    model_runner: Any

    def expert_bank_status(self) -> dict[str, Any]:
        model = self.model_runner.get_model()
        classes = {type(each) for each in model.modules() if isinstance(each, RoutedExperts)}
        return {
            "plugin": plugin.registered(),
            "version": "0.1.0",
            "pid": os.getpid(),
            "moe_usage_counter": getattr(
                self.vllm_config.offload_config, "moe_usage_counter", None
            ),
            "experts": sorted(f"{each.__module__}.{each.__qualname__}" for each in classes),
            "ops": experts.installed() or "op" in self.vllm_config.lies,
        }

    def expert_bank_usage(self) -> dict[str, Any] | None:
        counted = getattr(self, "counted", None)
        if counted is None:
            return None
        lies = self.vllm_config.lies
        counts = [[count * lies.get("times", 1) for count in layer.counts] for layer in counted]
        counts[0][0] += lies.get("more_picks", 0)
        return {
            "model": self.vllm_config.model_config.model,
            "layers": [layer.layer_name for layer in counted],
            "picks_per_token": RoutedExperts.top_k,
            "tokens": getattr(self, "tokens", 0) + lies.get("more_tokens", 0),
            "counts": counts,
        }
