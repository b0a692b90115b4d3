"""Checks of the finalize kernels: ``finalize.py RESULT``; needs torch and Triton, not vLLM."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from checks import DEVICE, INTERPRETED, bits, tell

from expert_bank.finalize import finalize, finalize_reference
from expert_bank.finalize_triton import BLOCK, launch, launch_merged
from expert_bank.unfinalized import (
    Unfinalized,
    finalize_merged,
    finalize_merged_reference,
    join_unfinalized,
    unfinalized,
)

TOKENS, K, WIDTH, PADDED = 4, 5, 40, 48
MAPS = 200
DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def drawn(
    dtype: torch.dtype, weights: torch.dtype = torch.float32, *, padded: int = PADDED
) -> tuple[torch.Tensor, torch.Tensor]:
    """Picks [T, k, K] and weights [T, k] whose sum has other bits in another order."""
    source = torch.Generator().manual_seed(29)
    picks = torch.randn(TOKENS, K, padded, generator=source) * 3
    routed = torch.rand(TOKENS, K, generator=source)
    return picks.to(dtype).to(DEVICE), routed.to(weights).to(DEVICE)


def empty(dtype: torch.dtype, width: int = WIDTH) -> torch.Tensor:
    """An output that shows what was not written.

    The interpreter cuts bfloat16 off where a GPU rounds, so what it stores there is float32.
    """
    if INTERPRETED and dtype == torch.bfloat16:
        dtype = torch.float32
    return torch.full((TOKENS, width), torch.nan, dtype=dtype, device=DEVICE)


def zero() -> torch.Tensor:
    """A count of wrong picks."""
    return torch.zeros(1, dtype=torch.int32, device=DEVICE)


def two_calls(
    picks: torch.Tensor, weights: torch.Tensor, in_hot: torch.Tensor, seed: int
) -> tuple[Unfinalized, Unfinalized]:
    """What two calls answer with for these picks; all that is not theirs is NaN.

    Rows are permuted and padded as no kernel promises not to, and differently for each call.
    """
    source = torch.Generator().manual_seed(seed)
    calls = []
    for local in (in_hot.flatten(), ~in_hot.flatten()):
        count = int(local.sum())
        rows = count + int(torch.randint(0, 9, (1,), generator=source))
        at = torch.randperm(rows, generator=source)[:count]
        permute = torch.full((TOKENS * K,), -1, dtype=torch.int32)
        permute[local] = at.to(torch.int32)
        held = torch.full((rows, PADDED), torch.nan, dtype=picks.dtype, device=DEVICE)
        held[at.to(DEVICE)] = picks.flatten(0, 1)[local.to(DEVICE)]
        own = weights.masked_fill(~local.view(TOKENS, K).to(DEVICE), torch.nan)
        calls.append(unfinalized(held, own, permute.to(DEVICE)))
    return calls[0], calls[1]


def maps() -> list[torch.Tensor]:
    """bool[T, k], which picks are hot: by expert, and the two maps that have one bank alone."""
    source = torch.Generator().manual_seed(31)
    experts = torch.randint(16, (TOKENS, K), generator=source)
    drawn = [torch.rand(16, generator=source) < 0.7 for _ in range(MAPS)]
    return [hot[experts] for hot in (torch.zeros(16) > 0, torch.zeros(16) == 0, *drawn)]


def reference_sums_in_slot_order() -> None:
    """Against NumPy, a float32 product and a float32 sum at a time."""
    picks, weights = drawn(torch.float32)
    total = np.zeros((TOKENS, WIDTH), np.float32)
    for slot in range(K):
        part = picks[:, slot, :WIDTH].cpu().numpy() * weights[:, slot, None].cpu().numpy()
        total = total + part
    found = empty(torch.float32)
    finalize_reference(picks, weights, found)
    assert bits(found) == total.tobytes()
    backwards = empty(torch.float32)
    finalize_reference(picks.flip(1), weights.flip(1), backwards)
    assert bits(backwards) != bits(found)


def kernel_has_the_references_bits() -> None:
    """Whatever the dtypes of picks and weights; a padded K is cut."""
    for dtype in DTYPES:
        for of_weights in (torch.float32, dtype):
            picks, weights = drawn(dtype, of_weights, padded=2 * BLOCK)
            for width in (1, BLOCK, BLOCK + 8, 2 * BLOCK):
                expected, found, called = (empty(dtype, width) for _ in range(3))
                finalize_reference(picks, weights, expected)
                launch(picks, weights, found)
                finalize(picks, weights, called)
                assert bits(found) == bits(called) == bits(expected)
                assert not expected.isnan().any()


def no_token_is_no_error() -> None:
    """A step may have none."""
    picks, weights = drawn(torch.float16)
    output = empty(torch.float16)[:0]
    launch(picks[:0], weights[:0], output)
    none = Unfinalized(
        picks[0, :0], weights[:0], torch.zeros(0, K, dtype=torch.int32, device=DEVICE)
    )
    launch_merged(none, none, output, zero())
    finalize_merged_reference(none, none, output, zero())


def two_calls_have_one_calls_bits_for_every_map() -> None:
    """By the kernel, the reference, and one joined buffer; nothing is wrong."""
    for dtype in DTYPES:
        picks, weights = drawn(dtype)
        expected = empty(dtype)
        finalize_reference(picks, weights, expected)
        wrong = zero()
        for seed, in_hot in enumerate(maps()):
            hot, cold = two_calls(picks, weights, in_hot, seed)
            kernel, reference, joined = (empty(dtype) for _ in range(3))
            launch_merged(hot, cold, kernel, wrong)
            finalize_merged(hot, cold, reference, wrong)
            whole = join_unfinalized(hot, cold, wrong)
            rows = whole.gemm2_permuted[whole.expanded_idx_to_permuted_idx.long()]
            finalize_reference(rows, whole.expert_weights, joined)
            assert bits(kernel) == bits(reference) == bits(joined) == bits(expected)
        assert wrong.item() == 0


def a_joined_answer_is_of_upstreams_form() -> None:
    """Dense, contiguous, int32, and the weights of all picks."""
    picks, weights = drawn(torch.bfloat16)
    hot, cold = two_calls(picks, weights, maps()[2], seed=1)
    whole = join_unfinalized(hot, cold, zero())
    rows = hot.gemm2_permuted.shape[0] + cold.gemm2_permuted.shape[0]
    assert whole.gemm2_permuted.shape == (rows, PADDED)
    assert whole.expanded_idx_to_permuted_idx.shape == (TOKENS, K)
    assert whole.expanded_idx_to_permuted_idx.dtype == torch.int32
    assert whole.expert_weights.equal(weights)
    assert all(
        each.is_contiguous()
        for each in (
            whole.gemm2_permuted,
            whole.expert_weights,
            whole.expanded_idx_to_permuted_idx,
        )
    )
    unfinalized(whole.gemm2_permuted, whole.expert_weights, whole.expanded_idx_to_permuted_idx)


def picks_that_not_exactly_one_call_has_are_counted() -> None:
    """In neither, in both, or in a row that is not there; they add nothing to the sum."""
    picks, weights = drawn(torch.float32)
    in_hot = maps()[2]
    chosen = int(in_hot.flatten().nonzero()[0]), int((~in_hot).flatten().nonzero()[0])
    hot, cold = two_calls(picks, weights, in_hot, seed=1)

    def broken(call: Unfinalized, pick: int, row: int) -> Unfinalized:
        permute = call.expanded_idx_to_permuted_idx.clone()
        permute.view(-1)[pick] = row
        return replace(call, expanded_idx_to_permuted_idx=permute)

    faults = (
        (chosen[:1], broken(hot, chosen[0], -1), cold),
        (chosen[1:], hot, broken(cold, chosen[1], -1)),
        (chosen, broken(hot, chosen[0], -1), broken(cold, chosen[1], -1)),
        (chosen[:1], hot, broken(cold, chosen[0], 0)),
        (chosen[1:], broken(hot, chosen[1], 0), cold),
        (chosen[:1], broken(hot, chosen[0], hot.gemm2_permuted.shape[0]), cold),
        (chosen[1:], hot, broken(cold, chosen[1], 2**31 - 1)),
        (chosen[:1], hot, broken(cold, chosen[0], 2**31 - 1)),
    )
    for lost, at_hot, at_cold in faults:
        without = picks.clone()
        for pick in lost:
            without.view(-1, PADDED)[pick] = 0
        expected = empty(torch.float32)
        finalize_reference(without, weights, expected)
        good = torch.ones(TOKENS, dtype=torch.bool)
        good[[pick // K for pick in lost]] = False
        for function in (launch_merged, finalize_merged_reference):
            found, wrong = empty(torch.float32), zero()
            function(at_hot, at_cold, found, wrong)
            assert wrong.item() == len(lost)
            assert bits(found[good.to(DEVICE)]) == bits(expected[good.to(DEVICE)])


def a_row_of_the_wrong_bank_shows() -> None:
    """The negative control: two calls whose maps were exchanged, or whose buffers were."""
    picks, weights = drawn(torch.float32)
    expected = empty(torch.float32)
    finalize_reference(picks, weights, expected)
    hot, cold = two_calls(picks, weights, maps()[2], seed=1)
    found, wrong = empty(torch.float32), zero()
    launch_merged(
        replace(hot, gemm2_permuted=torch.full_like(hot.gemm2_permuted, torch.nan)),
        cold,
        found,
        wrong,
    )
    assert bool(found.isnan().any())
    crossed = (
        replace(hot, expanded_idx_to_permuted_idx=cold.expanded_idx_to_permuted_idx),
        replace(cold, expanded_idx_to_permuted_idx=hot.expanded_idx_to_permuted_idx),
    )
    launch_merged(*crossed, found, wrong)
    assert bits(found) != bits(expected)


def two_partial_sums_differ() -> None:
    """The negative control: each call finalized by itself, and the two added."""
    for dtype in DTYPES:
        picks, weights = drawn(dtype)
        answers = set()
        for in_hot in maps():
            hot = in_hot.to(DEVICE)
            parts = [empty(dtype) for _ in range(2)]
            finalize_reference(picks, weights * hot, parts[0])
            finalize_reference(picks, weights * ~hot, parts[1])
            answers.add(bits(parts[0] + parts[1]))
        assert len(answers) > MAPS // 2


def other_forms_are_refused() -> None:
    """Calls that are not of one form, or of none."""
    picks, weights = drawn(torch.bfloat16)
    rows = picks.flatten(0, 1)
    permute = torch.arange(TOKENS * K, dtype=torch.int32, device=DEVICE)
    good = unfinalized(rows, weights, permute)
    makers: tuple[Callable[[], Unfinalized], ...] = (
        lambda: unfinalized(picks, weights, permute),
        lambda: unfinalized(rows, weights.flatten(), permute),
        lambda: unfinalized(rows, weights, permute[1:]),
        lambda: unfinalized(rows, weights, permute.long()),
        lambda: unfinalized(rows[:, ::2], weights, permute),
        lambda: join_unfinalized(good, replace(good, gemm2_permuted=rows.half()), zero()),
        lambda: join_unfinalized(good, replace(good, gemm2_permuted=rows[:, :32]), zero()),
        lambda: join_unfinalized(good, replace(good, expert_weights=weights.half()), zero()),
        lambda: join_unfinalized(good, replace(good, expert_weights=weights[1:]), zero()),
    )
    for number, make in enumerate(makers):
        try:
            make()
        except ValueError:
            continue
        raise AssertionError(number)


CHECKS = (
    reference_sums_in_slot_order,
    kernel_has_the_references_bits,
    no_token_is_no_error,
    two_calls_have_one_calls_bits_for_every_map,
    a_joined_answer_is_of_upstreams_form,
    picks_that_not_exactly_one_call_has_are_counted,
    a_row_of_the_wrong_bank_shows,
    two_partial_sums_differ,
    other_forms_are_refused,
)


if __name__ == "__main__":
    tell(CHECKS)
