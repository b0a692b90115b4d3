# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""MXFP4 experts under FlashInfer's TRT-LLM kernel: a call over each bank, one finalize.

The kernel takes no row pointers, but a range of experts: the hot call is told that ids from 0 on
are its own, the cold call those from H on, and each leaves the others' picks out. Neither sums.
"""

from collections.abc import Iterator
from typing import Any

import torch
from vllm.model_executor.layers.fused_moe.experts.trtllm_mxfp4_moe import TrtLlmMxfp4ExpertsModular
from vllm.model_executor.layers.fused_moe.moe_output import UnfinalizedMoEOutput

from expert_bank.bank import LayerBank
from expert_bank.glue.bank_call import BankCall
from expert_bank.refused import Refused
from expert_bank.staging.layer_stage import LayerStage
from expert_bank.table_layout import COLD, HOT
from expert_bank.unfinalized import Unfinalized, finalize_merged, join_unfinalized

# The machines that FlashInfer builds the kernel for and this was written for.
CAPABILITIES = ((10, 0), (10, 3))


class TwoCalls:
    """Stands in for a layer's ``TrtLlmMxfp4ExpertsModular.apply``.

    Attributes:
        experts: vLLM's own.
        bank: Of the layer; its tensors are w13_weight, w13_weight_scale, w2_weight,
            w2_weight_scale, and biases where the model has them.
        wrong: int32[1], picks that not exactly one call has had.

    In a step that is staged the second call has the layer's slots, in the place of its cold rows.
    """

    def __init__(
        self,
        experts: TrtLlmMxfp4ExpertsModular,
        bank: LayerBank,
        stage: LayerStage | None = None,
    ) -> None:
        if not (bank.hot and bank.cold):
            raise Refused(
                f"{bank.name}: {bank.hot} hot and {bank.cold} cold rows; its kernel needs a row in"
                " each bank",
                hint="give each layer at least one hot and one cold expert",
            )
        self.experts = experts
        self.bank = bank
        device = bank.tensors[0].hot.device
        self.wrong = torch.zeros(1, dtype=torch.int32, device=device)
        self._stage = stage
        self._hot = BankCall(experts, bank, bank.rows_of(HOT))
        self._cold = BankCall(experts, bank, bank.rows_of(COLD), offset=bank.hot)
        self._slots = self._cold
        if stage is not None:
            self._slots = BankCall(experts, bank, stage.slots(), offset=bank.hot)

    def apply(
        self,
        output: torch.Tensor,
        hidden_states: torch.Tensor,
        *,
        topk_weights: torch.Tensor,
        topk_ids: torch.Tensor,
        activation: Any,  # noqa: ANN401 - vLLM's
        a1q_scale: torch.Tensor | None,
        **_: Any,  # noqa: ANN401 - vLLM's: weights, workspaces and what else is not needed here
    ) -> UnfinalizedMoEOutput | None:
        """Run both banks' picks and finalize them in slot order, or leave that to the model.

        Args:
            output: [T, K], written unless the model finalizes.
            hidden_states: [T, K] as the kernel wants them, quantised or not.
            topk_weights: [T, k].
            topk_ids: int[T, k], places in ``[hot; cold]``.
            activation: Of the experts.
            a1q_scale: Scales of ``hidden_states``, or None.
        """
        places = topk_ids.to(torch.int32)
        tokens, picks = places.shape
        most = self.experts._max_supported_tokens(picks, self._hot.num_experts)  # noqa: SLF001 - vLLM has no public name for it
        scale = None if a1q_scale is None else a1q_scale.view(torch.float8_e4m3fn)
        if tokens <= most and self._deferred(tokens):
            both = self._both(hidden_states, scale, places, topk_weights, activation)
            joined = join_unfinalized(*both, self.wrong)
            return UnfinalizedMoEOutput(
                gemm2_permuted=joined.gemm2_permuted,
                expert_weights=joined.expert_weights,
                expanded_idx_to_permuted_idx=joined.expanded_idx_to_permuted_idx,
            )
        for start in range(0, tokens, most):
            part = slice(start, start + most)
            hot, cold = self._both(
                hidden_states[part],
                None if scale is None else scale[part],
                places[part],
                topk_weights[part],
                activation,
            )
            finalize_merged(hot, cold, output[part], self.wrong)
        return None

    def audit(self) -> Iterator[str]:
        """Yield how many picks not exactly one call has had, if any; waits for the device."""
        if count := int(self.wrong.item()):
            yield f"{self.bank.name}: {count} picks were not served by exactly one of its two calls"

    def _deferred(self, tokens: int) -> bool:
        """Tell whether the model wants to finalize; before 0.31 these experts never let it."""
        config = self.experts.moe_config
        limited = hasattr(config, "limit_deferred_moe_finalize")
        return limited and bool(config.should_defer_moe_finalize(tokens))

    def _both(
        self,
        x: torch.Tensor,
        scale: torch.Tensor | None,
        places: torch.Tensor,
        weights: torch.Tensor,
        activation: Any,  # noqa: ANN401 - vLLM's
    ) -> tuple[Unfinalized, Unfinalized]:
        given = x, scale, places, weights, activation
        staged = self._stage is not None and self._stage.read
        warm = self._stage is not None and self._stage.warm
        if warm and not torch.cuda.is_current_stream_capturing():
            # Another number of rows is tuned apart, and no step before the first staged one has it.
            self._slots(*given)
        return self._hot(*given), (self._slots if staged else self._cold)(*given)


def against_two_calls(layer: Any) -> str | None:  # noqa: ANN401 - vLLM's
    """Say why a layer cannot be run so; None where it can."""
    kernel = getattr(layer.quant_method, "moe_kernel", None)
    experts = getattr(kernel, "fused_experts", None)
    if not isinstance(experts, TrtLlmMxfp4ExpertsModular):
        return f"its experts are {type(experts).__qualname__}"
    capability = torch.cuda.get_device_capability()
    if capability not in CAPABILITIES:
        wanted = " and ".join(f"sm_{major}{minor}" for major, minor in CAPABILITIES)
        return f"the machine has sm_{capability[0]}{capability[1]}, and this needs {wanted}"
    return None
