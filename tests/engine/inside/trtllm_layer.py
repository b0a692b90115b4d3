"""A layer of vLLM's TRT-LLM MXFP4 experts with its rows in two allocations, on the CPU.

The experts are vLLM's own and the calls ours; FlashInfer's kernel, which is not there without a
GPU, is the double of ``trtllm_kernel``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import torch
from maps import random_table
from trtllm_kernel import Kernel, installed
from vllm.model_executor.layers.fused_moe.activation import MoEActivation
from vllm.model_executor.layers.fused_moe.config import (
    FusedMoEConfig,
    FusedMoEParallelConfig,
    RoutingMethodType,
    mxfp4_mxfp8_moe_quant_config,
    mxfp4_w4a16_moe_quant_config,
)
from vllm.model_executor.layers.fused_moe.experts.trtllm_mxfp4_moe import TrtLlmMxfp4ExpertsModular

from expert_bank.bank import LayerBank, RowTensor
from expert_bank.finalize import finalize_reference
from expert_bank.glue.two_calls import TwoCalls
from expert_bank.staging.layer_stage import LayerStage
from expert_bank.staging.slots import Slots
from expert_bank.table import Table
from expert_bank.table_layout import BANK, COLD, PLACE, ROW

E, K, WIDTH, INNER, TOKENS = 9, 3, 64, 32, 7
HOT, COLD_ROWS = 5, 8
# As vLLM's experts tell the kernel where all rows are resident.
TOLD = 12
NAME = "layers.3.experts"
Rows = dict[str, torch.Tensor]
# Of the input and of the weights.
KINDS: tuple[dict[str, bool], ...] = (
    {"packed": False, "biases": True},
    {"packed": True, "biases": False},
)
# What the kernel was given by name, in all layers.
KEYWORDS: set[str] = set()


def drawn_rows(*, biases: bool) -> Rows:
    """Draw [E, ...] of every row tensor, as the checkpoint has them and the kernel reads them."""
    source = torch.Generator().manual_seed(5)

    def some(low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, (E, *shape), generator=source).to(torch.uint8)

    rows = {
        "w13_weight": some(0, 256, 2 * INNER, WIDTH // 2),
        "w13_weight_scale": some(122, 128, 2 * INNER, WIDTH // 32),
        "w2_weight": some(0, 256, WIDTH, INNER // 2),
        "w2_weight_scale": some(122, 128, WIDTH, INNER // 32),
    }
    if biases:
        rows["w13_bias"] = torch.randn(E, 2 * INNER, generator=source)
        rows["w2_bias"] = torch.randn(E, WIDTH, generator=source)
    return rows


@dataclass
class Layer:
    """A layer with its rows in two allocations.

    Attributes:
        rows: [E, ...], as loaded.
        bank: Refilled by ``lay``, at the same addresses.
        experts: vLLM's.
        calls: Under test.
        kernel: The double.
        packed: Whether the input is MXFP8.
        table: Ours, of the one layer.
        stage: Its staging; None without slots.
    """

    rows: Rows
    bank: LayerBank
    experts: TrtLlmMxfp4ExpertsModular
    calls: TwoCalls
    kernel: Kernel
    packed: bool
    table: Table
    stage: LayerStage | None

    def lay(self, table: torch.Tensor) -> None:
        """Put every expert's row where a map has it; all others are NaN, and their codes -6."""
        for each in self.bank.tensors:
            for side in (each.hot, each.cold):
                side.view(torch.uint8).fill_(0xFF)
            for expert, (bank, row) in enumerate(table[[BANK, ROW]].t().tolist()):
                (each.cold if bank == COLD else each.hot)[row] = self.rows[each.name][expert]

    def given(self, tokens: int = TOKENS) -> dict[str, Any]:
        """Draw what a step hands the experts, with logical ids."""
        source = torch.Generator().manual_seed(tokens)
        x = torch.randn(tokens, WIDTH, generator=source)
        scale = torch.randint(124, 130, (tokens, WIDTH // 32), generator=source).to(torch.uint8)
        return {
            "hidden_states": x.to(torch.float8_e4m3fn) if self.packed else x.bfloat16(),
            "a1q_scale": scale if self.packed else None,
            "topk_weights": torch.rand(tokens, K, generator=source),
            "topk_ids": torch.rand(tokens, E, generator=source).topk(K).indices,
            "activation": MoEActivation.SWIGLUOAI,
        }

    def resident(self, given: dict[str, Any], width: int = WIDTH) -> torch.Tensor:
        """One call of vLLM's own over all rows, and the slots in order."""
        scale = given["a1q_scale"]
        found = self.experts._invoke_kernel(  # noqa: SLF001 - one launch, whatever it defers
            None,
            given["hidden_states"],
            None if scale is None else scale.view(torch.float8_e4m3fn),
            given["topk_ids"].to(torch.int32),
            given["topk_weights"],
            self.rows["w13_weight"],
            self.rows["w2_weight"],
            given["activation"],
            TOLD,
            E,
            0,
            K,
        )
        picks = found.gemm2_permuted[found.expanded_idx_to_permuted_idx.long()]
        output = torch.full((len(picks), width), torch.nan, dtype=torch.bfloat16)
        finalize_reference(picks, found.expert_weights, output)
        assert not output.isnan().any()
        return output

    def apply(
        self, given: dict[str, Any], table: torch.Tensor, width: int = WIDTH
    ) -> tuple[torch.Tensor, Any]:
        """Run the two calls over a step under a map; the output, and what was answered."""
        output = torch.full((len(given["topk_ids"]), width), torch.nan, dtype=torch.bfloat16)
        told = self.experts.apply(
            output=output,
            w1=self.bank.tensors[0].hot,
            w2=self.bank.tensors[2].hot,
            global_num_experts=E,
            expert_map=None,
            a2_scale=None,
            workspace13=None,
            workspace2=None,
            expert_tokens_meta=None,
            apply_router_weight_on_input=False,
            **{**given, "topk_ids": placed(given["topk_ids"], table)},
        )
        return output, told


def placed(ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """Send each pick to its place, as the split does."""
    return table[PLACE][ids].to(torch.int32)


def upstreams_experts(rows: Rows, *, packed: bool) -> TrtLlmMxfp4ExpertsModular:
    """Make vLLM's experts, whose limits lie on the CPU."""
    make = mxfp4_mxfp8_moe_quant_config if packed else mxfp4_w4a16_moe_quant_config
    scales = [rows[f"{w}_weight_scale"].view(torch.float8_e4m3fn) for w in ("w13", "w2")]
    biases = {"w1_bias": rows.get("w13_bias"), "w2_bias": rows.get("w2_bias")}
    quantised = make(*scales, **biases, gemm1_clamp_limit=7.0)
    config = FusedMoEConfig(
        num_experts=E,
        experts_per_token=K,
        hidden_dim=WIDTH,
        intermediate_size=2 * INNER,
        num_local_experts=E,
        num_logical_experts=E,
        activation=MoEActivation.SWIGLUOAI,
        device="cpu",
        routing_method=RoutingMethodType.Renormalize,
        # A model leaves its experts unfinalized where it reduces over ranks behind them.
        moe_parallel_config=replace(FusedMoEParallelConfig.make_no_parallel(), tp_size=2),
        in_dtype=torch.bfloat16,
    )
    # vLLM asks for the current accelerator's number to put its limits there.
    with patch.object(torch.accelerator, "current_device_index", lambda: "cpu"):
        return TrtLlmMxfp4ExpertsModular(config, quantised)


@contextmanager
def layer(
    *,
    packed: bool = False,
    biases: bool = True,
    hot: int = HOT,
    cold: int = COLD_ROWS,
    slots: int = 0,
) -> Iterator[Layer]:
    """Make a layer as vLLM does, but on the CPU; with a staging buffer, if it is to have slots."""
    rows = drawn_rows(biases=biases)
    tensors = []
    for name, each in rows.items():
        sides = [torch.empty(n, *each.shape[1:], dtype=each.dtype) for n in (hot, cold)]
        buffer = torch.empty(slots, *each.shape[1:], dtype=each.dtype) if slots else None
        tensors.append(RowTensor(name, sides[0], sides[1], None, buffer))
    bank = LayerBank(NAME, E, "exclusive", tuple(tensors))
    table = Table([hot], E, torch.device("cpu"))
    stage = LayerStage(bank, table, 0, Slots([E - hot], slots, slots)) if slots else None
    experts = upstreams_experts(rows, packed=packed)
    with installed() as kernel:
        calls = TwoCalls(experts, bank, stage)
        experts.apply = calls.apply
        yield Layer(rows, bank, experts, calls, kernel, packed, table, stage)
        KEYWORDS.update(kernel.keywords)


def maps(
    count: int, hot: int = HOT, cold: int = COLD_ROWS, *, full: bool = False
) -> list[torch.Tensor]:
    """Draw maps; rows that nobody has are in both banks, or where all hot ones are had in one."""
    source = torch.Generator().manual_seed(41)
    most = hot if full else None
    return [
        random_table(source, experts=E, hot=hot, cold=cold, hot_experts=most) for _ in range(count)
    ]
