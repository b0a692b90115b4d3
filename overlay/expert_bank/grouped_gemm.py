# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Routed experts over rows that lie anywhere: the unreduced output of every pick.

A pick's output depends on its token and its expert's rows, never on where those rows are: blocks,
tiles and the order of every sum are functions of shapes and logical ids.
"""

from collections.abc import Sequence

import torch


def grouped_gemm_reference(
    x: torch.Tensor,
    ids: torch.Tensor,
    w13: Sequence[torch.Tensor],
    w2: Sequence[torch.Tensor],
) -> torch.Tensor:
    """Compute each pick by itself with torch's own operators; reads ``ids`` on the host.

    Args:
        x: [T, K].
        ids: int[T, k], logical expert ids; those outside [0, E) answer with zeros.
        w13: E rows [2N, K], the gate's N rows before the N that it scales.
        w2: E rows [K, N].

    Returns:
        [T, k, K] of the dtype of ``x``, in which all is computed.
    """
    output = x.new_zeros(*ids.shape, x.shape[1])
    for token, row in enumerate(ids.tolist()):
        for slot, expert in enumerate(row):
            if 0 <= expert < len(w13):
                gate, up = (w13[expert] @ x[token]).chunk(2)
                output[token, slot] = w2[expert] @ (torch.nn.functional.silu(gate) * up)
    return output


def grouped_gemm_cuda(
    x: torch.Tensor,
    ids: torch.Tensor,
    w13: torch.Tensor,
    w2: torch.Tensor,
    *,
    intermediate: int,
) -> torch.Tensor:
    """Compute all picks with two launches behind a sort; may be captured.

    Both matrix products accumulate in float32. The first one's result is rounded once, behind
    SiLU and the product of its halves.

    Args:
        x: [T, K], float16, bfloat16 or float32, contiguous.
        ids: int[T, k], logical expert ids; those outside [0, E) answer with zeros.
        w13: int64[E], device addresses of rows [2N, K] of the dtype of ``x``, multiples of 16; see
            ``expert_bank.row_address.expert_addresses``.
        w2: int64[E], the same of rows [K, N].
        intermediate: N.

    Returns:
        [T, k, K] of the dtype of ``x``: one output for every pick, unweighted.
    """
    from expert_bank.grouped_gemm_triton import launch  # noqa: PLC0415 - CPU builds lack Triton

    return launch(x, ids, w13, w2, intermediate)
