# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""FlashInfer's TRT-LLM MXFP4 kernel over the rows of one bank, up to its finalize."""

from collections.abc import Mapping
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.config import RoutingMethodType
from vllm.model_executor.layers.fused_moe.experts.trtllm_mxfp4_moe import TrtLlmMxfp4ExpertsModular
from vllm.model_executor.layers.fused_moe.utils import fi_moe_largest_bucket

from expert_bank.bank import LayerBank
from expert_bank.unfinalized import Unfinalized, unfinalized

# The kernel wants a number of experts that its vectors divide.
EXPERTS_BY = 4


def experts_told(bank: LayerBank) -> int:
    """Places of both banks, rounded up to what the kernel takes."""
    return -(-(bank.hot + bank.cold) // EXPERTS_BY) * EXPERTS_BY


class BankCall:
    """One call: it has the picks whose places lie in its bank, and leaves the others out.

    Attributes:
        experts: vLLM's own, which knows scales' places, biases and limits.
        num_experts: Places of both banks, as the kernel is told.
    """

    def __init__(
        self,
        experts: TrtLlmMxfp4ExpertsModular,
        bank: LayerBank,
        rows: Mapping[str, torch.Tensor],
        *,
        offset: int = 0,
    ) -> None:
        """Take the rows of one call.

        Args:
            experts: See ``BankCall``.
            bank: Of the layer.
            rows: [n, ...] by the tensor's name.
            offset: Place of the first of them.
        """
        self.experts = experts
        self.num_experts = experts_told(bank)
        self._rows = self._fixed(rows, offset)

    def __call__(
        self,
        x: torch.Tensor,
        scale: torch.Tensor | None,
        places: torch.Tensor,
        weights: torch.Tensor,
        activation: Any,  # noqa: ANN401 - vLLM's
    ) -> Unfinalized:
        """Run the bank's picks.

        Args:
            x: [T, K] as the kernel wants them, quantised or not.
            scale: Of ``x``, float8_e4m3fn [T, K / 32], or None.
            places: int32[T, k], places in ``[hot; cold]``.
            weights: [T, k].
            activation: Of the experts.
        """
        from flashinfer import (  # noqa: PLC0415 - only CUDA builds have it
            trtllm_fp4_block_scale_routed_moe,
        )

        experts = self.experts
        permuted, routed, permute = trtllm_fp4_block_scale_routed_moe(
            topk_ids=(places, weights),
            routing_bias=None,
            hidden_states=x,
            hidden_states_scale=scale,
            output1_scale_scalar=None,
            output1_scale_gate_scalar=None,
            output2_scale_scalar=None,
            num_experts=self.num_experts,
            top_k=places.shape[1],
            n_group=None,
            topk_group=None,
            intermediate_size=experts.intermediate_size_per_partition,
            routed_scaling_factor=None,
            routing_method_type=RoutingMethodType.Renormalize,
            do_finalize=False,
            enable_pdl=True,
            activation_type=experts._flashinfer_activation_type(activation),  # noqa: SLF001 - vLLM has no public name for it
            output=None,
            tune_max_num_tokens=fi_moe_largest_bucket(experts.moe_config),
            **self._rows,
        )
        return unfinalized(permuted, routed.view(weights.shape), permute)

    def _fixed(self, rows: Mapping[str, torch.Tensor], offset: int) -> dict[str, Any]:
        """What every call is given: its rows, and how many places lie before them."""
        experts, count = self.experts, len(rows["w13_weight"])
        return {
            "gemm1_weights": rows["w13_weight"],
            "gemm1_weights_scale": rows["w13_weight_scale"].view(experts.w1_scale.dtype),
            "gemm1_bias": rows.get("w13_bias"),
            "gemm1_alpha": _first(experts.gemm1_alpha, count),
            "gemm1_beta": _first(experts.gemm1_beta, count),
            "gemm1_clamp_limit": _first(experts.gemm1_clamp_limit, count),
            "gemm2_weights": rows["w2_weight"],
            "gemm2_weights_scale": rows["w2_weight_scale"].view(experts.w2_scale.dtype),
            "gemm2_bias": rows.get("w2_bias"),
            "local_expert_offset": offset,
            "local_num_experts": count,
        }


def _first(values: torch.Tensor | None, rows: int) -> torch.Tensor | None:
    """Take a value for each row; vLLM gives every expert the same."""
    return None if values is None else values[:1].expand(rows).contiguous()
