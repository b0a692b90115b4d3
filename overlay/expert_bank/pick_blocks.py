# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Picks sorted by expert into blocks of one expert each, for a grouped GEMM."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class PickBlocks:
    """Which picks each block works on; P = T * k picks, in blocks of B.

    Attributes:
        picks: int32[blocks, B], flat picks ``t * k + slot``, those of one expert in rising order;
            P where a block has no more.
        experts: int32[blocks], whose picks a block has: E for picks of no expert, -1 for blocks
            without picks.
    """

    picks: torch.Tensor
    experts: torch.Tensor


def blocks_at_most(picks: int, experts: int, block: int) -> int:
    """Most blocks that any routing needs: each expert, and ``no expert``, leaves one unfilled."""
    return min(picks, picks // block + experts + 1)


def pick_blocks(ids: torch.Tensor, experts: int, block: int) -> PickBlocks:
    """Sort picks by logical expert; shapes depend on T, k, E and B alone, nothing is read on the host.

    Where an expert's rows lie is not known here, so a map cannot change a block.

    Args:
        ids: int[T, k], logical expert ids; those outside [0, E) are of no expert.
        experts: E.
        block: B, picks in a block.
    """
    flat = ids.reshape(-1)
    picks = flat.shape[0]
    blocks = blocks_at_most(picks, experts, block)
    expert = flat.to(torch.int64).masked_fill((flat < 0) | (flat >= experts), experts)
    sizes = torch.zeros(experts + 1, dtype=torch.int64, device=flat.device)
    sizes.scatter_add_(0, expert, torch.ones_like(expert))
    needed = (sizes + block - 1) // block
    ends = needed.cumsum(0)
    sorted_experts, order = expert.sort(stable=True)
    # From where an expert's picks begin in the sorted order to where its blocks begin.
    shift = (ends - needed) * block - (sizes.cumsum(0) - sizes)
    at = torch.arange(picks, device=flat.device) + shift[sorted_experts]
    filled = torch.full((blocks * block,), picks, dtype=torch.int32, device=flat.device)
    filled.scatter_(0, at, order.to(torch.int32))
    owner = torch.searchsorted(ends, torch.arange(blocks, device=flat.device), right=True)
    owner.masked_fill_(owner > experts, -1)
    return PickBlocks(filled.view(blocks, block), owner.to(torch.int32))
