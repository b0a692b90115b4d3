# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""vLLM's routed experts, with their rows in two banks."""

from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.fused_moe_method_base import FusedMoEMethodBase
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts

from expert_bank import split
from expert_bank.glue import current
from expert_bank.glue.layer_load import LayerLoad
from expert_bank.glue.row_pointers import RowPointers
from expert_bank.late_split import Split
from expert_bank.recording.op import keep_picks


class BankedExperts(RoutedExperts):
    """Routed experts whose picks are served from a hot and a cold bank.

    Those of a draft model stay resident, and then everything here is vLLM's.

    Attributes:
        load: Until vLLM is done with the layer; None for resident experts.
        pick_counts: int32[2 * E]; None until the banks are bound.
        scheduled_tokens: int32[1], shared by all layers of a worker.
        table: int32[4, E], see ``expert_bank.table``.
        kept_ids: int32[M, k]; None where picks are not recorded.
        kept_weights: float32[M, k], the same.
        late_split: Splits where picks are counted later; else None.
        row_pointers: Runs the experts by their rows' addresses; None where vLLM's kernel does.
    """

    load: LayerLoad | None
    pick_counts: torch.Tensor | None
    scheduled_tokens: torch.Tensor | None
    table: torch.Tensor | None
    kept_ids: torch.Tensor | None
    kept_weights: torch.Tensor | None
    late_split: Split | None
    row_pointers: RowPointers | None

    def _get_quant_method(self, *args: Any, **kwargs: Any) -> FusedMoEMethodBase:  # noqa: ANN401 - vLLM's, whatever they are
        """Let vLLM choose, and stand before what it chose."""
        method: FusedMoEMethodBase = super()._get_quant_method(*args, **kwargs)
        for name in ("pick_counts", "scheduled_tokens", "table", "kept_ids", "kept_weights"):
            self.register_buffer(name, None, persistent=False)
        self.late_split = None
        self.row_pointers = None
        self.load = current.join(self, method)
        return method

    def weight_loader(
        self,
        param: torch.nn.Parameter,
        loaded_weight: torch.Tensor,
        weight_name: str,
        shard_id: str,
        expert_id: int,
        return_success: bool = False,  # noqa: FBT001, FBT002 - vLLM's
    ) -> bool | None:
        """Load a weight as vLLM does; the layer's first makes room for it, its last ends the load."""
        if self.load is None:
            resident: bool | None = super().weight_loader(
                param, loaded_weight, weight_name, shard_id, expert_id, return_success
            )
            return resident
        real = self.load.real(param, weight_name, expert_id, shard_id)
        loaded: bool | None = super().weight_loader(
            real, loaded_weight, weight_name, shard_id, expert_id, return_success
        )
        # As many dimensions as the parameter: all experts in one.
        every = loaded_weight.dim() == real.dim()
        self.load.took(real, None if every else expert_id, shard_id)
        return loaded

    def forward_modular(
        self,
        x: torch.Tensor,
        topk_weights: torch.Tensor,
        topk_ids: torch.Tensor,
        *args: Any,  # noqa: ANN401 - the same
        **kwargs: Any,  # noqa: ANN401 - the same
    ) -> Any:  # noqa: ANN401 - the same
        """Send each pick of ``topk_ids`` (int[T, k]) to its place, then run the experts."""
        # Not by name: a module searches several places for one, for each layer of each step.
        held = self._buffers
        counts = held["pick_counts"]
        if counts is not None:
            if held["kept_ids"] is not None:
                keep_picks(held["kept_ids"], held["kept_weights"], topk_ids, topk_weights)
            if self.late_split is not None:
                places = self.late_split(topk_ids)
            else:
                places = split.split(counts, topk_ids, held["scheduled_tokens"], held["table"])
            if self.row_pointers is not None:
                return self.row_pointers(x, topk_weights, topk_ids)
            topk_ids = places
        return super().forward_modular(x, topk_weights, topk_ids, *args, **kwargs)
