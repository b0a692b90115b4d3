# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The finalize kernels for devices that Triton compiles for."""

import torch
import triton
import triton.language as tl

from expert_bank.unfinalized import Unfinalized

BLOCK = 512
# Without fused multiply-add the sum has the same bits as torch's own operators give.
OPTIONS = {"block": BLOCK, "enable_fp_fusion": False}


# Weights and maps may be those of a part of the tokens, which may begin anywhere.
@triton.jit(do_not_specialize_on_alignment=["weights"])
def finalize_kernel(picks, weights, output, padded, width, k: tl.constexpr, block: tl.constexpr):
    """Sum one token's picks in slot order, a block of its columns."""
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    inside = column < width
    total = tl.zeros((block,), tl.float32)
    for slot in range(k):
        pick = token * k + slot
        weight = tl.load(weights + pick).to(tl.float32)
        total += weight * tl.load(picks + pick * padded + column, mask=inside, other=0.0).to(
            tl.float32
        )
    tl.store(output + token * width + column, total.to(output.dtype.element_ty), mask=inside)


# Row counts are what autotuning made of T: none of them may compile a kernel while serving.
@triton.jit(
    do_not_specialize=["hot_rows", "cold_rows"],
    do_not_specialize_on_alignment=["hot_weights", "cold_weights", "hot_permute", "cold_permute"],
)
def finalize_merged_kernel(
    hot,
    cold,
    hot_weights,
    cold_weights,
    hot_permute,
    cold_permute,
    output,
    wrong,
    hot_rows,
    cold_rows,
    padded,
    width,
    k: tl.constexpr,
    block: tl.constexpr,
):
    """Sum one token's picks in slot order, each from the buffer that has it."""
    token = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * block + tl.arange(0, block)
    inside = column < width
    total = tl.zeros((block,), tl.float32)
    amiss = 0
    for slot in range(k):
        pick = token * k + slot
        hot_row = tl.load(hot_permute + pick).to(tl.int64)
        cold_row = tl.load(cold_permute + pick).to(tl.int64)
        in_hot = (hot_row >= 0) & (hot_row < hot_rows)
        in_cold = (cold_row >= 0) & (cold_row < cold_rows)
        good = (in_hot & (cold_row < 0)) | (in_cold & (hot_row < 0))
        amiss += tl.where(good, 0, 1)
        source = tl.where(in_hot, hot + hot_row * padded, cold + cold_row * padded)
        weight = tl.load(tl.where(in_hot, hot_weights + pick, cold_weights + pick)).to(tl.float32)
        part = tl.load(source + column, mask=column < tl.where(good, width, 0), other=0.0)
        total += weight * part.to(tl.float32)
    tl.store(output + token * width + column, total.to(output.dtype.element_ty), mask=inside)
    tl.atomic_add(wrong, amiss, mask=(tl.program_id(1) == 0) & (amiss > 0), sem="relaxed")


def launch(picks: torch.Tensor, weights: torch.Tensor, output: torch.Tensor) -> None:
    """Launch the kernel over all tokens.

    Args:
        picks: [T, k, K], contiguous.
        weights: [T, k], contiguous.
        output: [T, K'], contiguous, written, K' <= K.
    """
    tokens, k, padded = picks.shape
    width = output.shape[1]
    if tokens:
        finalize_kernel[(tokens, triton.cdiv(width, BLOCK))](
            picks, weights, output, padded, width, k=k, **OPTIONS
        )


def launch_merged(
    hot: Unfinalized, cold: Unfinalized, output: torch.Tensor, wrong: torch.Tensor
) -> None:
    """Launch the kernel over all tokens of two calls.

    Args:
        hot: From the call over the hot bank; all its tensors contiguous.
        cold: From the call over the cold bank, of the same dtypes.
        output: [T, K'], contiguous, written, K' <= K.
        wrong: int32[1], the number of picks that not exactly one call has is added.
    """
    tokens, k = hot.expert_weights.shape
    width = output.shape[1]
    if tokens:
        finalize_merged_kernel[(tokens, triton.cdiv(width, BLOCK))](
            hot.gemm2_permuted,
            cold.gemm2_permuted,
            hot.expert_weights,
            cold.expert_weights,
            hot.expanded_idx_to_permuted_idx,
            cold.expanded_idx_to_permuted_idx,
            output,
            wrong,
            hot.gemm2_permuted.shape[0],
            cold.gemm2_permuted.shape[0],
            hot.gemm2_permuted.shape[1],
            width,
            k=k,
            **OPTIONS,
        )
