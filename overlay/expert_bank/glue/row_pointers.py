# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Experts of fp16 or bf16 on a CUDA device: one grouped GEMM over the rows of both banks."""

from collections.abc import Iterator

import torch
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.fused_moe.oracle.unquantized import UnquantizedMoeBackend
from vllm.model_executor.layers.fused_moe.routed_experts import RoutedExperts
from vllm.model_executor.layers.fused_moe.unquantized_fused_moe_method import (
    UnquantizedFusedMoEMethod,
)

from expert_bank.bank import LayerBank
from expert_bank.finalize import finalize
from expert_bank.grouped_gemm import grouped_gemm_cuda
from expert_bank.row_address import expert_addresses
from expert_bank.staging.layer_stage import LayerStage

DTYPES = (torch.float16, torch.bfloat16)
ROWS = {"w13_weight", "w2_weight"}


class RowPointers:
    """Runs a layer's experts by the addresses of their rows.

    Attributes:
        bank: Of the layer.
        table: int32[4, E], the layer's, on the device.
        addresses: int64[E] of each row tensor; written in place, so that a graph may hold them.
        stage: Of the layer, where some steps are staged, and ``staged``, the addresses then; else None.
    """

    def __init__(
        self, bank: LayerBank, table: torch.Tensor, stage: LayerStage | None = None
    ) -> None:
        self.bank = bank
        self.table = table
        self.stage = stage
        self.addresses = {each.name: self._read(each.name) for each in bank.tensors}
        self.staged = {name: each.clone() for name, each in self.addresses.items()}
        if stage is not None:
            stage.refreshed.append(self._refresh_staged)

    def refresh(self) -> None:
        """Take the table's state over, behind every change of it."""
        for name, addresses in self.addresses.items():
            addresses.copy_(self._read(name))

    def __call__(
        self, x: torch.Tensor, topk_weights: torch.Tensor, topk_ids: torch.Tensor
    ) -> torch.Tensor:
        """Run the experts.

        Args:
            x: [T, K], contiguous.
            topk_weights: [T, k].
            topk_ids: int[T, k], logical expert ids.

        Returns:
            [T, K] of the dtype of ``x``, each token's picks summed in slot order.
        """
        intermediate = self.bank.tensors[0].hot.shape[1] // 2
        staged = self.stage is not None and self.stage.read
        addresses = self.staged if staged else self.addresses
        w13, w2 = addresses["w13_weight"], addresses["w2_weight"]
        picks = grouped_gemm_cuda(x, topk_ids, w13, w2, intermediate=intermediate)
        output = torch.empty_like(x)
        finalize(picks, topk_weights.contiguous(), output)
        return output

    def _refresh_staged(self) -> None:
        """Take the staged table over; its cold experts' rows are slots of the buffer."""
        stage = self.stage
        for tensor in self.bank.tensors:
            if stage is not None and tensor.stage is not None:
                found = expert_addresses(stage.table, tensor.hot, tensor.stage)
                self.staged[tensor.name].copy_(found)

    def _read(self, name: str) -> torch.Tensor:
        tensor = next(each for each in self.bank.tensors if each.name == name)
        return expert_addresses(self.table, tensor.hot, tensor.cold)


def against_row_pointers(layer: RoutedExperts) -> str | None:
    """Say why a layer cannot be run so; None where it can."""
    method = layer.quant_method
    if not isinstance(method, UnquantizedFusedMoEMethod):
        return f"{type(method).__qualname__} is not of plain weights"
    return next(_against(layer, method), None)


def _against(layer: RoutedExperts, method: UnquantizedFusedMoEMethod) -> Iterator[str]:
    rows = {name for name, _ in layer.named_parameters()}
    if rows != ROWS:
        yield f"its parameters are {', '.join(sorted(rows))}"
    if layer.w13_weight.dtype not in DTYPES:
        yield f"its weights are {layer.w13_weight.dtype}"
    # Other backends shuffle the rows, or put the gate behind what it scales.
    if method.unquantized_backend != UnquantizedMoeBackend.TRITON:
        yield f"its rows are laid out for {method.unquantized_backend}"
    limits = (layer.swiglu_limit, layer.swiglu_alpha, layer.swiglu_beta)
    if layer.activation != MoEActivation.SILU or any(each is not None for each in limits):
        yield "its activation is not plain SiLU"
    if layer.apply_router_weight_on_input:
        yield "the router's weights come before its experts"
