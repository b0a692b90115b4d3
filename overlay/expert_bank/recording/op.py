# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The op that keeps what the router picked in a forward until the worker has read it.

``expert_bank::keep_picks(kept_ids, kept_weights, ids, weights)`` writes row t of what is given to
row t of what is kept. Padding is kept, too: whoever reads knows how many rows are tokens. It
allocates nothing and reads nothing on the host, so it may be captured.
"""

import torch

NAME = "expert_bank::keep_picks"
SCHEMA = "(Tensor(a!) kept_ids, Tensor(b!) kept_weights, Tensor ids, Tensor weights) -> ()"


def keep_picks_anywhere(
    kept_ids: torch.Tensor, kept_weights: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor
) -> None:
    """Keep the picks of a forward, on whatever device they are.

    Args:
        kept_ids: int32[M, k], written in place.
        kept_weights: float32[M, k], the same.
        ids: int[T, k], T <= M, logical expert ids.
        weights: floating[T, k].

    Raises:
        RuntimeError: T is above M.
    """
    rows = ids.shape[0]
    kept_ids[:rows].copy_(ids)
    kept_weights[:rows].copy_(weights)


def keep_picks(
    kept_ids: torch.Tensor, kept_weights: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor
) -> None:
    """Keep them: by the op where Dynamo traces, else without torch's way to it."""
    if torch.compiler.is_compiling():
        torch.ops.expert_bank.keep_picks(kept_ids, kept_weights, ids, weights)
    else:
        keep_picks_anywhere(kept_ids, kept_weights, ids, weights)


def keep_picks_fake(
    kept_ids: torch.Tensor, kept_weights: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor
) -> None:
    """Return nothing, as the op does; its effect is in the schema."""
