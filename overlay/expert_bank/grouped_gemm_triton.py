# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The grouped GEMM kernels for devices that Triton compiles for."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from expert_bank.pick_blocks import pick_blocks


@dataclass(frozen=True)
class Tiles:
    """What a program computes: picks by columns, and the depth of one step of its sum."""

    picks: int
    columns: int
    depth: int
    warps: int
    stages: int


FEW = Tiles(picks=16, columns=64, depth=64, warps=4, stages=4)
MANY = Tiles(picks=64, columns=128, depth=32, warps=8, stages=3)


def tiles_for(picks: int, experts: int) -> Tiles:
    """Choose tiles by how many picks an expert has on average.

    Args:
        picks: T * k.
        experts: E, all of the layer's, hot or cold: a map must not choose tiles.
    """
    return MANY if picks >= experts * MANY.picks else FEW


@triton.jit
def row_times(a, a_inside, weights, w_inside, length, depth: tl.constexpr, precision: tl.constexpr):
    """Multiply rows [m, length] at pointers ``a`` with rows [n, length] at ``weights``, transposed."""
    step = tl.arange(0, depth)
    total = tl.zeros((a.shape[0], weights.shape[0]), tl.float32)
    for begin in range(0, length, depth):
        inside = begin + step < length
        left = tl.load(a[:, None] + begin + step[None, :], a_inside[:, None] & inside[None, :], 0.0)
        right = tl.load(
            weights[None, :] + begin + step[:, None], inside[:, None] & w_inside[None, :], 0.0
        )
        total = tl.dot(left, right, total, input_precision=precision)
    return total


# One compiled kernel for every T: none is compiled while serving.
@triton.jit(do_not_specialize=["total_picks"])
def gate_up_kernel(
    x,
    w13,
    picks,
    owners,
    hidden,
    total_picks,
    experts,
    k: tl.constexpr,
    K: tl.constexpr,  # noqa: N803 - the model's dimensions
    N: tl.constexpr,  # noqa: N803 - the same
    block: tl.constexpr,
    columns: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
):
    """hidden[pick] = silu(gate @ x) * (up @ x), for a block of one expert's picks."""
    expert = tl.load(owners + tl.program_id(0))
    if (expert < 0) | (expert >= experts):
        return
    pick = tl.load(picks + tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    column = tl.program_id(1) * columns + tl.arange(0, columns)
    row = tl.load(w13 + expert).to(x.dtype)
    row = tl.multiple_of(row, 16)
    valid, inside = pick < total_picks, column < N
    tokens = x + pick // k * K
    gate = row_times(tokens, valid, row + column * K, inside, K, depth, precision)
    up = row_times(tokens, valid, row + (N + column) * K, inside, K, depth, precision)
    both = gate / (1.0 + tl.exp(-gate)) * up
    tl.store(
        hidden + pick[:, None] * N + column[None, :],
        both.to(hidden.dtype.element_ty),
        mask=valid[:, None] & inside[None, :],
    )


@triton.jit(do_not_specialize=["total_picks"])
def down_kernel(
    hidden,
    w2,
    picks,
    owners,
    output,
    total_picks,
    experts,
    K: tl.constexpr,  # noqa: N803 - the model's dimensions
    N: tl.constexpr,  # noqa: N803 - the same
    block: tl.constexpr,
    columns: tl.constexpr,
    depth: tl.constexpr,
    precision: tl.constexpr,
):
    """output[pick] = down @ hidden[pick], for a block of one expert's picks; zeros for none's."""
    expert = tl.load(owners + tl.program_id(0))
    if expert < 0:
        return
    pick = tl.load(picks + tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    column = tl.program_id(1) * columns + tl.arange(0, columns)
    valid, inside = pick < total_picks, column < K
    target = output + pick[:, None] * K + column[None, :]
    stored = valid[:, None] & inside[None, :]
    if expert >= experts:
        tl.store(target, tl.zeros((block, columns), output.dtype.element_ty), mask=stored)
        return
    row = tl.load(w2 + expert).to(hidden.dtype)
    row = tl.multiple_of(row, 16)
    total = row_times(hidden + pick * N, valid, row + column * N, inside, N, depth, precision)
    tl.store(target, total.to(output.dtype.element_ty), mask=stored)


def launch(
    x: torch.Tensor, ids: torch.Tensor, w13: torch.Tensor, w2: torch.Tensor, intermediate: int
) -> torch.Tensor:
    """Sort the picks and launch both kernels.

    Args:
        x: [T, K], float16, bfloat16 or float32, made contiguous if it is not.
        ids: int[T, k], logical.
        w13: int64[E], addresses of rows [2N, K] of the dtype of ``x``, multiples of 16.
        w2: int64[E], addresses of rows [K, N], the same.
        intermediate: N.

    Returns:
        [T, k, K] of the dtype of ``x``.
    """
    x = x.contiguous()
    experts, (tokens, k), width = w13.shape[0], ids.shape, x.shape[1]
    output = x.new_empty(tokens, k, width)
    hidden = x.new_empty(tokens * k, intermediate)
    if tokens * k == 0:
        return output
    tiles = tiles_for(tokens * k, experts)
    blocks = pick_blocks(ids, experts, tiles.picks)
    shapes = {
        "K": width,
        "N": intermediate,
        "block": tiles.picks,
        "columns": tiles.columns,
        "depth": tiles.depth,
        # Tensor cores would round float32 to ten bits.
        "precision": "ieee" if x.dtype == torch.float32 else "tf32",
        "num_warps": tiles.warps,
        "num_stages": tiles.stages,
    }
    count = blocks.experts.shape[0]
    gate_up_kernel[(count, triton.cdiv(intermediate, tiles.columns))](
        x, w13, blocks.picks, blocks.experts, hidden, tokens * k, experts, k=k, **shapes
    )
    down_kernel[(count, triton.cdiv(width, tiles.columns))](
        hidden, w2, blocks.picks, blocks.experts, output, tokens * k, experts, **shapes
    )
    return output
