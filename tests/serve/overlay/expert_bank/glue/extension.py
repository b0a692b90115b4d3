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
            "moe_hot_experts": getattr(self.vllm_config.offload_config, "moe_hot_experts", None),
            "experts": sorted(f"{each.__module__}.{each.__qualname__}" for each in classes),
            "ops": experts.installed() or "op" in self.vllm_config.lies,
            "prefetch_copies": None,
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

    def expert_bank_banks(self) -> dict[str, Any] | None:
        two_bank = getattr(self, "two_bank", None)
        return None if two_bank is None else {**two_bank.told(), "audit": two_bank.audit()}

    def expert_bank_stats(self) -> dict[str, Any] | None:
        two_bank = getattr(self, "two_bank", None)
        if two_bank is None:
            return None
        told = two_bank.told()
        names = ("forwards", "barriers", "swaps", "failed", "cut", "bytes", "seconds")
        self.stats = {
            **dict.fromkeys(
                ("tokens", "decisions", "deciding_seconds", "following_drain_seconds"), 0
            ),
            **dict.fromkeys(("frozen", "guard")),
            "served_as": "stand-in",
            "engine": 0,
            "forwards": told["forwards"] - self.vllm_config.lies.get("late_forwards", 0),
            "cold": dict.fromkeys(("late", "boot", "oracle", "null")),
            "regret": dict.fromkeys(("served", "oracle"), 0),
            "swapping": {"waiting": 0, **{name: told[name] for name in names}},
            "layers": [
                {
                    "name": bank.name,
                    "hot_rows": bank.hot,
                    "swaps": 0 if number else told["swaps"],
                    "hot_picks": bank.picks[0] + self.vllm_config.lies.get("more_shown", 0),
                    "cold_picks": bank.picks[1],
                }
                for number, bank in enumerate(two_bank.banks)
            ],
        }
        return self.stats

    def expert_bank_force(self, every: int, pairs_per_layer: int, seed: int) -> None:
        two_bank = getattr(self, "two_bank", None)
        if two_bank is None:
            raise RuntimeError("all experts are resident: moe_hot_experts is not set")
        if "swapless" not in self.vllm_config.lies:
            two_bank.forced = (every, pairs_per_layer, seed)

    def expert_bank_follow(self, settings: dict[str, int] | None) -> None:
        lies, two_bank = self.vllm_config.lies, getattr(self, "two_bank", None)
        if settings is None:
            self.expert_bank_force(0, 0, 0)
        else:
            self.expert_bank_force(settings["every"], 0 if "idle" in lies else 1, 0)
        if two_bank is not None:
            two_bank.begun = two_bank.barriers
            two_bank.follows = (settings is not None and "unfollowed" not in lies) or None

    def expert_bank_map(self, hot: list[list[int]] | None = None) -> list[list[int]]:
        two_bank = getattr(self, "two_bank", None)
        if two_bank is None:
            raise RuntimeError("all experts are resident: moe_hot_experts is not set")
        return two_bank.map(hot)  # type: ignore[no-any-return]
