# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The weighted sum of a token's picks, in slot order: float32 throughout, rounded once.

The order is the router's, so the sum does not know which bank a pick was served from.
"""

import torch


def finalize_reference(picks: torch.Tensor, weights: torch.Tensor, output: torch.Tensor) -> None:
    """Sum with torch's own operators, a slot at a time.

    Args:
        picks: [T, k, K], the unweighted output of every pick.
        weights: [T, k], the router's.
        output: [T, K'], written, K' <= K: a kernel may pad K.
    """
    total = torch.zeros(output.shape, dtype=torch.float32, device=output.device)
    for slot in range(weights.shape[1]):
        part = picks[:, slot, : output.shape[1]].float()
        total += weights[:, slot, None].float() * part
    output.copy_(total)


def finalize(picks: torch.Tensor, weights: torch.Tensor, output: torch.Tensor) -> None:
    """Sum a token's picks in slot order; may be captured.

    Args:
        picks: [T, k, K], contiguous, the unweighted output of every pick.
        weights: [T, k], contiguous, the router's.
        output: [T, K'], contiguous, written, K' <= K: a kernel may pad K.
    """
    if picks.is_cuda:
        from expert_bank.finalize_triton import launch  # noqa: PLC0415 - CPU builds lack Triton

        launch(picks, weights, output)
    else:
        finalize_reference(picks, weights, output)
