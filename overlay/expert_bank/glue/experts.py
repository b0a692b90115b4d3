# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""vLLM's routed experts, with a count of what the router picked."""

from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank import pick_count


class CountedExperts(RoutedExperts):
    """Routed experts that count their picks once a counter is bound to them.

    Attributes:
        pick_counts: int32[E], or None where nothing is counted (a draft model's layers).
        scheduled_tokens: int32[1], shared by all layers of a worker.
    """

    pick_counts: torch.Tensor | None
    scheduled_tokens: torch.Tensor | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's, whatever they are
        super().__init__(*args, **kwargs)
        self.register_buffer("pick_counts", None, persistent=False)
        self.register_buffer("scheduled_tokens", None, persistent=False)

    def forward_modular(
        self,
        x: torch.Tensor,
        topk_weights: torch.Tensor,
        topk_ids: torch.Tensor,
        *args: Any,  # noqa: ANN401 - the same
        **kwargs: Any,  # noqa: ANN401 - the same
    ) -> Any:  # noqa: ANN401 - the same
        """Count ``topk_ids`` (int[T, k]), then run the experts as vLLM does."""
        counts = self.pick_counts
        if counts is not None:
            pick_count.count_picks(counts, topk_ids, self.scheduled_tokens)
        return super().forward_modular(x, topk_weights, topk_ids, *args, **kwargs)
