# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""vLLM's routed experts, with a count of what the router picked."""

from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank import pick_count
from expert_bank.recording.op import keep_picks


class CountedExperts(RoutedExperts):
    """Routed experts that count their picks once a counter is bound to them.

    Attributes:
        pick_counts: int32[E], or None where nothing is counted (a draft model's layers).
        scheduled_tokens: int32[1], shared by all layers of a worker.
        kept_ids: int32[M, k], or None where picks are not recorded.
        kept_weights: float32[M, k], the same.
    """

    pick_counts: torch.Tensor | None
    scheduled_tokens: torch.Tensor | None
    kept_ids: torch.Tensor | None
    kept_weights: torch.Tensor | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - vLLM's, whatever they are
        super().__init__(*args, **kwargs)
        for name in ("pick_counts", "scheduled_tokens", "kept_ids", "kept_weights"):
            self.register_buffer(name, None, persistent=False)

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
        if self.kept_ids is not None:
            keep_picks(self.kept_ids, self.kept_weights, topk_ids, topk_weights)
        return super().forward_modular(x, topk_weights, topk_ids, *args, **kwargs)
