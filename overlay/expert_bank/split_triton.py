# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The splitting kernel for devices that Triton compiles for."""

import torch
import triton
import triton.language as tl

from expert_bank.table_layout import BANK, PLACE

BLOCK = 256


# One compiled kernel for every length: none is compiled while serving.
@triton.jit(
    do_not_specialize=["picks", "experts"],
    do_not_specialize_on_alignment=["counts", "ids", "places", "banks_at", "places_at"],
)
def split_kernel(
    counts,
    ids,
    scheduled,
    banks_at,
    places_at,
    places,
    picks,
    experts,
    k: tl.constexpr,
    block: tl.constexpr,
):
    """Map one block of picks; add one to ``counts[bank * E + e]`` for those of a scheduled token."""
    pick = tl.program_id(0) * block + tl.arange(0, block)
    expert = tl.load(ids + pick, mask=pick < picks, other=0)
    known = (expert >= 0) & (expert < experts)
    expert = tl.where(known, expert, 0)
    place = tl.where(known, tl.load(places_at + expert), 0)
    tl.store(places + pick, place, mask=pick < picks)
    counted = known & (pick < tl.minimum(tl.load(scheduled) * k, picks))
    bank = tl.load(banks_at + expert)
    tl.atomic_add(counts + bank * experts + expert, 1, mask=counted, sem="relaxed")


def launch(
    counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor, table: torch.Tensor
) -> torch.Tensor:
    """Launch the kernel over all picks of a forward.

    Args:
        counts: int32[2 * E], contiguous, on the device.
        ids: int32 or int64 [T, k], made contiguous if it is not.
        scheduled: int32[1], on the device.
        table: int32[4, E], contiguous, on the device.

    Returns:
        Places, [T, k] of the dtype of ``ids``, contiguous.
    """
    flat = ids.contiguous()
    places = torch.empty_like(flat)
    picks = flat.numel()
    if picks:
        split_kernel[(triton.cdiv(picks, BLOCK),)](
            counts,
            flat,
            scheduled,
            table[BANK],
            table[PLACE],
            places,
            picks,
            table.shape[1],
            k=flat.shape[1],
            block=BLOCK,
        )
    return places
