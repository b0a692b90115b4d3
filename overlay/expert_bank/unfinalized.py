# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Two calls of an expert kernel that stopped before its finalize, made one.

The form is what FlashInfer's TRT-LLM MXFP4 kernels answer with under ``do_finalize=False``, and
what vLLM's ``UnfinalizedMoEOutput`` carries. One call runs over the hot rows, one over the cold;
every pick is local to exactly one of them, or the device's count of wrong picks says so.
"""

from dataclasses import dataclass

import torch

from expert_bank.finalize import finalize_reference


@dataclass(frozen=True)
class Unfinalized:
    """What one call answers with; fields are named as vLLM names them.

    Attributes:
        gemm2_permuted: [rows, K], unweighted outputs; rows that no pick names hold anything.
        expert_weights: [T, k], the router's; good for the picks that are local to the call.
        expanded_idx_to_permuted_idx: int32[T, k], the row of each pick; -1 where it is not local.
    """

    gemm2_permuted: torch.Tensor
    expert_weights: torch.Tensor
    expanded_idx_to_permuted_idx: torch.Tensor


def unfinalized(
    gemm2_permuted: torch.Tensor, expert_weights: torch.Tensor, permute: torch.Tensor
) -> Unfinalized:
    """Give a call's answer its shapes.

    Args:
        gemm2_permuted: [rows, K], contiguous.
        expert_weights: [T, k], contiguous.
        permute: int32, [T * k] or [T, k], contiguous.

    Raises:
        ValueError: It is not of that form.
    """
    rows = (
        gemm2_permuted.ndim == 2  # noqa: PLR2004 - [rows, K]
        and expert_weights.ndim == 2  # noqa: PLR2004 - [T, k]
        and permute.numel() == expert_weights.numel()
    )
    if not rows or permute.dtype != torch.int32:
        raise ValueError(
            f"no unfinalized output: {list(gemm2_permuted.shape)}, weights "
            f"{list(expert_weights.shape)}, map {permute.dtype}{list(permute.shape)}"
        )
    if not all(each.is_contiguous() for each in (gemm2_permuted, expert_weights, permute)):
        raise ValueError("an unfinalized output has to be contiguous")
    return Unfinalized(gemm2_permuted, expert_weights, permute.view(expert_weights.shape))


def merge_unfinalized(
    hot: Unfinalized, cold: Unfinalized, wrong: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Merge the maps of two calls, as if the cold call's rows lay behind the hot call's.

    Args:
        hot: From the call over the hot bank.
        cold: From the call over the cold bank.
        wrong: int32[1], the number of picks that not exactly one call has is added; read it where
            the host waits anyway. Such a pick is -1 in the merged map.

    Returns:
        int32[T, k], rows in ``[hot; cold]``, and weights [T, k], each from the call that has it.

    Raises:
        ValueError: The calls are not over the same picks, or have more rows than int32 can name.
    """
    rows = [each.gemm2_permuted.shape[0] for each in (hot, cold)]
    form = [
        (
            each.gemm2_permuted.shape[1],
            each.gemm2_permuted.dtype,
            each.expert_weights.shape,
            each.expert_weights.dtype,
        )
        for each in (hot, cold)
    ]
    if form[0] != form[1]:
        raise ValueError(f"two calls of different forms: {form[0]} and {form[1]}")
    if sum(rows) > torch.iinfo(torch.int32).max:
        raise ValueError(f"{sum(rows)} rows are more than an int32 map can name")
    at_hot, at_cold = (each.expanded_idx_to_permuted_idx for each in (hot, cold))
    in_hot = (at_hot >= 0) & (at_hot < rows[0])
    in_cold = (at_cold >= 0) & (at_cold < rows[1])
    good = (in_hot & (at_cold < 0)) | (in_cold & (at_hot < 0))
    wrong.add_((~good).sum())
    merged = torch.where(in_hot, at_hot, at_cold + rows[0])
    return (
        merged.masked_fill(~good, -1),
        torch.where(in_hot, hot.expert_weights, cold.expert_weights),
    )


def join_unfinalized(hot: Unfinalized, cold: Unfinalized, wrong: torch.Tensor) -> Unfinalized:
    """Make one answer of two, for a model that finalizes later and knows one buffer.

    Args:
        hot: From the call over the hot bank.
        cold: From the call over the cold bank.
        wrong: int32[1], the number of picks that not exactly one call has is added.

    Returns:
        Both calls' rows in one contiguous buffer, which costs a copy of them.
    """
    permute, weights = merge_unfinalized(hot, cold, wrong)
    return Unfinalized(torch.cat((hot.gemm2_permuted, cold.gemm2_permuted)), weights, permute)


def finalize_merged_reference(
    hot: Unfinalized, cold: Unfinalized, output: torch.Tensor, wrong: torch.Tensor
) -> None:
    """Finalize two calls with torch's own operators; arguments as of ``finalize_merged``."""
    joined = join_unfinalized(hot, cold, wrong)
    permute = joined.expanded_idx_to_permuted_idx
    picks = joined.gemm2_permuted[permute.clamp(min=0)]
    picks = picks.masked_fill((permute < 0)[..., None], 0.0)
    finalize_reference(picks, joined.expert_weights, output)


def finalize_merged(
    hot: Unfinalized, cold: Unfinalized, output: torch.Tensor, wrong: torch.Tensor
) -> None:
    """Finalize two calls in slot order, reading each pick where it lies; may be captured.

    Args:
        hot: From the call over the hot bank.
        cold: From the call over the cold bank.
        output: [T, K'], contiguous, written, K' <= K: a kernel may pad K.
        wrong: int32[1], the number of picks that not exactly one call has is added; such a pick
            adds nothing to its token's sum.
    """
    if output.is_cuda:
        from expert_bank.finalize_triton import launch_merged  # noqa: PLC0415 - CPU builds lack it

        launch_merged(hot, cold, output, wrong)
    else:
        finalize_merged_reference(hot, cold, output, wrong)
