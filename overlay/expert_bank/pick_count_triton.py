# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The counting kernel for devices that Triton compiles for."""

import torch
import triton
import triton.language as tl

BLOCK = 256


# One compiled kernel for every length: none is compiled while serving.
@triton.jit(do_not_specialize=["picks", "experts"])
def count_picks_kernel(
    counts, ids, scheduled, picks, experts, k: tl.constexpr, block: tl.constexpr
):
    """Add one to ``counts[e]`` for every pick ``e`` of a scheduled token, one block of picks each."""
    places = tl.program_id(0) * block + tl.arange(0, block)
    counted = places < tl.minimum(tl.load(scheduled) * k, picks)
    expert = tl.load(ids + places, mask=counted, other=0)
    counted = counted & (expert >= 0) & (expert < experts)
    tl.atomic_add(counts + expert, 1, mask=counted, sem="relaxed")


def launch(counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor) -> None:
    """Launch the kernel over all picks of a forward.

    Args:
        counts: int32[E], contiguous, on the device.
        ids: int[T, k], made contiguous if it is not.
        scheduled: int32[1], on the device.
    """
    flat = ids.contiguous()
    picks = flat.numel()
    if picks == 0:
        return
    count_picks_kernel[(triton.cdiv(picks, BLOCK),)](
        counts, flat, scheduled, picks, counts.shape[0], k=flat.shape[1], block=BLOCK
    )
