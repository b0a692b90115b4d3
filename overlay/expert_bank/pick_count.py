# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The op that counts expert picks: its schema and its kernels.

``expert_bank::count_picks(counts, ids, scheduled)`` adds one to ``counts[e]`` for every pick
``ids[t, slot] == e`` of the first ``scheduled`` tokens. Rows behind them are padding; in a forward
that nobody scheduled (profiling, warm-up, capture) ``scheduled`` is zero, so nothing is counted.
"""

from functools import lru_cache

import torch

NAME = "expert_bank::count_picks"
SCHEMA = "(Tensor(a!) counts, Tensor ids, Tensor scheduled) -> ()"


def count_picks_reference(counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor) -> None:
    """Count picks with torch's own operators; reads ``scheduled`` on the host.

    Args:
        counts: int32[E], added to in place; wraps at 2**32, read as unsigned.
        ids: int[T, k], logical expert ids in [0, E).
        scheduled: int32[1], how many of the T rows are tokens.

    Raises:
        IndexError: An id is outside [0, E).
    """
    tokens = scheduled.item()
    if tokens:
        picks = (ids if tokens == ids.shape[0] else ids[:tokens]).reshape(-1)
        counts.index_add_(0, picks, ones(picks.shape[0]))


@lru_cache(maxsize=64)
def ones(length: int) -> torch.Tensor:
    """Give int32[length]; a decode step asks for the same few lengths over and over."""
    with torch.inference_mode(mode=False):
        return torch.ones(length, dtype=torch.int32)


def count_picks_cuda(counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor) -> None:
    """Count picks with one launch; may be captured, for ``scheduled`` is read on the device.

    Args:
        counts: int32[E], contiguous, added to in place; wraps at 2**32, read as unsigned.
        ids: int[T, k], contiguous; ids outside [0, E) are left out, and the sum shows it.
        scheduled: int32[1], how many of the T rows are tokens.
    """
    from expert_bank.pick_count_triton import launch  # noqa: PLC0415 - CPU builds lack Triton

    launch(counts, ids, scheduled)


def count_picks(counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor) -> None:
    """Count picks: by the op where Dynamo traces, else by the kernel itself.

    Outside of a graph the op would only add torch's way through Python to a kernel in Python,
    which takes longer than the counting.

    Args:
        counts: int32[E], added to in place; wraps at 2**32, read as unsigned.
        ids: int[T, k], logical expert ids in [0, E).
        scheduled: int32[1], how many of the T rows are tokens.
    """
    if torch.compiler.is_compiling():
        torch.ops.expert_bank.count_picks(counts, ids, scheduled)
    elif counts.is_cuda:
        count_picks_cuda(counts, ids, scheduled)
    else:
        count_picks_reference(counts, ids, scheduled)


def count_picks_fake(counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor) -> None:
    """Return nothing, as the op does; its effect is in the schema."""
