"""A double of FlashInfer's ``trtllm_fp4_block_scale_routed_moe``, on the CPU, for MXFP4 rows.

It stands in for the third party's kernel alone, in the form that its documentation gives the call:
the experts [offset, offset + n) are local, their picks' outputs are unweighted, permuted by expert
and padded behind each, and the map has -1 for every other pick. What it is handed is held against
that documentation, too. Each pick is computed by itself from the rows it is handed, in float32; a
row, a scale or a pick of another call's cannot come in by chance, for what is not filled is NaN.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import ModuleType
from typing import Any

import torch

TILE = 4
PACKED = 32  # elements that share a scale
KEYWORDS = (
    "topk_ids",
    "hidden_states",
    "hidden_states_scale",
    "num_experts",
    "top_k",
    "intermediate_size",
    "local_expert_offset",
    "local_num_experts",
)
HALVES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
E2M1 = torch.cat((HALVES, -HALVES))


class ActivationType(IntEnum):
    """FlashInfer's own names and numbers."""

    Gelu = 0
    Relu = 1
    Silu = 2
    Swiglu = 3
    Geglu = 4
    Relu2 = 6


class Kernel:
    """The function, with what it was called with and faults of its own.

    Attributes:
        most: Tokens that one call takes.
        early: By how many places a range that does not begin at 0 is taken to begin too early.
        tuned_apart: Whether a range that does not begin at 0 is computed with other tiles, as a
            kernel that is tuned for another number of experts may be.
        told: Of every call its tokens, experts, offset and local experts.
        keywords: Names of all that it was ever given.
    """

    def __init__(self) -> None:
        self.most = 1024
        self.early = 0
        self.tuned_apart = False
        self.told: list[tuple[int, ...]] = []
        self.keywords: set[str] = set()

    def __call__(
        self,
        *,
        topk_ids: tuple[torch.Tensor, torch.Tensor],
        hidden_states: torch.Tensor,
        hidden_states_scale: torch.Tensor | None,
        num_experts: int,
        top_k: int,
        intermediate_size: int,
        local_expert_offset: int,
        local_num_experts: int,
        **given: Any,  # noqa: ANN401 - whatever the real one takes
    ) -> list[torch.Tensor]:
        """Run the picks of the local experts, up to the finalize."""
        ids, weights = topk_ids
        tokens = hidden_states.shape[0]
        numbers = num_experts, local_expert_offset, local_num_experts
        self.told.append((tokens, *numbers))
        self.keywords |= {*KEYWORDS, *given}
        assert tokens <= self.most, "the grid overflows"
        assert ids.dtype == torch.int32
        assert weights.dtype in (torch.float32, torch.bfloat16)
        assert ids.shape == weights.shape == (tokens, top_k)
        assert ids.is_contiguous() and weights.is_contiguous()  # noqa: PT018 - one form
        assert num_experts % 4 == 0 < num_experts - top_k
        assert 0 < local_num_experts <= num_experts - local_expert_offset
        assert local_expert_offset >= 0
        assert given["do_finalize"] is False
        assert given["output"] is None
        assert given["activation_type"] == ActivationType.Swiglu
        experts = [_Expert(given, local, intermediate_size) for local in range(local_num_experts)]
        _require_rows(given, local_num_experts)
        x = _unpacked_input(hidden_states, hidden_states_scale)
        return self._run(x, ids, weights, experts, local_expert_offset)

    def _run(
        self,
        x: torch.Tensor,
        ids: torch.Tensor,
        weights: torch.Tensor,
        experts: list["_Expert"],
        offset: int,
    ) -> list[torch.Tensor]:
        at = ids.flatten() - offset
        first = -self.early if offset else 0
        owner = at.clamp(min=0).masked_fill(at < first, -1)
        permute = torch.full_like(at, -1)
        rows: list[torch.Tensor] = []
        unfilled = torch.full((x.shape[1],), torch.nan, dtype=torch.bfloat16)
        for local, expert in enumerate(experts):
            # Their order within an expert is the kernel's own affair.
            for pick in reversed((owner == local).nonzero().flatten().tolist()):
                permute[pick] = len(rows)
                row = expert(x[pick // ids.shape[1]])
                rows.append(row * 1.01 if self.tuned_apart and offset else row)
            rows += [unfilled] * (-len(rows) % TILE)
        rows += [unfilled] * TILE
        return [torch.stack(rows), weights, permute]


class _Expert:
    """One local expert, of the rows that a call is handed."""

    def __init__(self, given: dict[str, Any], local: int, intermediate: int) -> None:
        self._given = given
        self._local = local
        self._intermediate = intermediate

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """[K] to [K], bfloat16."""
        limit = self._value("gemm1_clamp_limit", torch.inf)
        first = self._product("gemm1", x)
        assert first.shape == (2 * self._intermediate,)
        up, gate = first.chunk(2)
        gate = gate.clamp(max=limit)
        up = up.clamp(min=-limit, max=limit) + self._value("gemm1_beta", 0.0)
        inner = gate * torch.sigmoid(gate * self._value("gemm1_alpha", 1.0)) * up
        return self._product("gemm2", inner.bfloat16().float()).bfloat16()

    def _product(self, gemm: str, x: torch.Tensor) -> torch.Tensor:
        codes, scales = (
            self._given[name][self._local] for name in (f"{gemm}_weights", f"{gemm}_weights_scale")
        )
        pairs = torch.stack((codes & 0xF, codes >> 4), dim=-1).flatten(-2)
        rows = E2M1[pairs.long()] * _powers(scales)
        bias = self._given[f"{gemm}_bias"]
        return rows @ x if bias is None else rows @ x + bias[self._local]

    def _value(self, name: str, otherwise: float) -> float:
        found = self._given[name]
        return otherwise if found is None else float(found[self._local])


def _powers(scales: torch.Tensor) -> torch.Tensor:
    """What each element is scaled by: a byte is an exponent, and 0xFF is NaN."""
    exponents = scales.view(torch.float8_e8m0fnu).float()
    return exponents.repeat_interleave(PACKED, dim=-1)


def _unpacked_input(x: torch.Tensor, scale: torch.Tensor | None) -> torch.Tensor:
    assert x.is_contiguous()
    if scale is None:
        assert x.dtype == torch.bfloat16
        return x.float()
    assert (x.dtype, scale.dtype) == (torch.float8_e4m3fn, torch.float8_e4m3fn)
    assert scale.is_contiguous()
    assert scale.shape == (x.shape[0], x.shape[1] // PACKED)
    return x.float() * _powers(scale)


def _require_rows(given: dict[str, Any], local: int) -> None:
    """Of every tensor by expert there is a row of each local one, and no other."""
    for gemm in ("gemm1", "gemm2"):
        for name, dtype in (("weights", torch.uint8), ("weights_scale", torch.float8_e4m3fn)):
            rows = given[f"{gemm}_{name}"]
            assert (rows.shape[0], rows.dtype) == (local, dtype), (gemm, name)
            assert rows.is_contiguous()
    for name in ("gemm1_bias", "gemm2_bias", "gemm1_alpha", "gemm1_beta", "gemm1_clamp_limit"):
        if given[name] is not None:
            assert (given[name].shape[0], given[name].dtype) == (local, torch.float32), name


@contextmanager
def installed() -> Iterator[Kernel]:
    """Have ``flashinfer`` be there with this kernel, while the block runs."""
    kernel = Kernel()
    package, core = ModuleType("flashinfer"), ModuleType("flashinfer.fused_moe.core")
    package.trtllm_fp4_block_scale_routed_moe = kernel  # type: ignore[attr-defined]
    core.ActivationType = ActivationType  # type: ignore[attr-defined]
    named = {
        "flashinfer": package,
        "flashinfer.fused_moe": ModuleType("flashinfer.fused_moe"),
        "flashinfer.fused_moe.core": core,
    }
    sys.modules.update(named)
    try:
        yield kernel
    finally:
        for name in named:
            del sys.modules[name]
