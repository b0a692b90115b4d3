# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Has vLLM build a class of ours for its routed experts."""

from vllm.model_executor.custom_op import PluggableLayer, op_registry_oot
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank import ops

REPLACED = "RoutedExperts"


def install(experts: type[RoutedExperts], feature: str) -> None:
    """Have vLLM build a class from here on; calling it again changes nothing.

    Args:
        experts: Ours.
        feature: The switch that asked for it, for messages.

    Raises:
        RuntimeError: Another plugin has taken the same layer.
    """
    ops.register()
    other = op_registry_oot.get(REPLACED)
    if other is experts:
        return
    if other is not None:
        raise RuntimeError(
            f"{feature}: {REPLACED} is already replaced by {other.__module__}."
            f"{other.__qualname__}; load only one plugin that does"
        )
    PluggableLayer.register_oot(experts, name=REPLACED)
