"""Checks of the self-check at start, where banks are two allocations; run by ``cuda_glue``.

A double stands in for kernels that are tuned apart for numbers of tokens: the grouped GEMM, but
over one number of them the rows of one bank are computed otherwise.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import torch
from cuda_layers import Model, model
from small_banks import ROWS, raised, small
from vllm.config import VllmConfig

from expert_bank.allocation import one_allocation
from expert_bank.bank import LayerBank
from expert_bank.glue import row_pointers
from expert_bank.glue.banking import require_map_invariance
from expert_bank.grouped_gemm import grouped_gemm_cuda
from expert_bank.host_memory import HostMemory
from expert_bank.refused import Refused
from expert_bank.self_check import TOKENS, mixed_layers, one_of_each_size, token_counts

MOST = 20
COUNTS = [1, 2, 4, 8, 16, MOST]


def required(made: Model) -> None:
    """Ask for what a worker asks for behind its warm-up."""
    config = VllmConfig()
    config.scheduler_config.max_num_batched_tokens = MOST
    require_map_invariance(made.two_bank, torch.nn.ModuleList(made.layers), config)


@contextmanager
def tuned(made: Model, tokens: int | None) -> Iterator[list[int]]:
    """Have hot rows over so many tokens computed otherwise; yields over how many each call was."""
    asked: list[int] = []
    hot = [bank.tensors[0].hot for bank in made.two_bank.swapper.banks]

    def gemm(
        x: torch.Tensor,
        ids: torch.Tensor,
        w13: torch.Tensor,
        w2: torch.Tensor,
        *,
        intermediate: int,
    ) -> torch.Tensor:
        asked.append(len(x))
        picks = grouped_gemm_cuda(x, ids, w13, w2, intermediate=intermediate)
        if len(x) == tokens:
            ends = [(each.data_ptr(), each.data_ptr() + each.nbytes) for each in hot]
            inside = sum((w13 >= start) & (w13 < end) for start, end in ends).bool()
            picks[inside[ids.long()]] *= 1.01
        return picks

    with patch.object(row_pointers, "grouped_gemm_cuda", gemm):
        yield asked


def a_layer_of_each_pair_of_sizes_is_asked_over_every_number() -> None:
    """Before, between and behind two swaps; rows and counts are as they were."""
    made = model([5, 3, 5, 0], "mirror")
    before = made.two_bank.table.is_hot()
    with tuned(made, None) as asked:
        required(made)
    assert one_of_each_size(made.two_bank, mixed_layers(made.two_bank)) == [0, 1]
    assert asked == [each for _ in range(2) for each in COUNTS for _ in range(3)]
    assert all((a == b).all() for a, b in zip(before, made.two_bank.table.is_hot(), strict=True))
    assert made.two_bank.audit() == []
    assert made.two_bank.counter.by_bank().sum() == 0


def layers_of_which_no_expert_is_hot_yet_are_asked_too() -> None:
    """With an empty boot map one gets hot for the check, and cold again."""
    for tokens in (None, COUNTS[2]):
        made = model([5, 3], "mirror", boot="empty")
        with tuned(made, tokens) as asked:
            refusal = refused(lambda: required(made))  # noqa: B023 - called at once
        assert (refusal is None) is (tokens is None), refusal
        assert len(asked) >= 3
        assert not any(each.any() for each in made.two_bank.table.is_hot())
        assert made.two_bank.audit() == []


def refused(act: Callable[[], object]) -> str | None:
    """Do something; what it was refused with."""
    try:
        act()
    except Refused as error:
        return str(error)
    return None


def a_kernel_that_is_tuned_apart_is_refused() -> None:
    """Whatever the number of tokens; by layer, experts, and that number."""
    for tokens in COUNTS:
        made = model([5, 3], "exclusive")
        with tuned(made, tokens):
            told = raised(Refused, partial(required, made))
        assert f"self-check over {tokens} tokens: model.layers.0.experts, experts 0 and 5: " in told
        assert "all experts must be resident" in told


def numbers_of_tokens_are_those_that_kernels_are_tuned_for() -> None:
    """Powers of two, then every 256, and the largest step; a few where vLLM's own kernel runs."""
    apart = small([4], "mirror").two_bank.swapper.banks[0]
    powers = [1, 2, 4, 8, 16, 32, 64, 128]
    assert token_counts(apart, 1) == [1]
    assert token_counts(apart, 6) == [1, 2, 4, 6]
    assert token_counts(apart, 256) == [*powers, 256]
    assert token_counts(apart, 8192) == [*powers, *range(256, 8193, 256)]
    assert token_counts(apart, 8200) == [*powers, *range(256, 8193, 256), 8200]
    one = LayerBank("one", 6, "mirror", one_allocation(ROWS, 2, 6, HostMemory()))
    assert token_counts(one, 8192) == [TOKENS]
    assert token_counts(one, 1) == [1]


CHECKS = (
    a_layer_of_each_pair_of_sizes_is_asked_over_every_number,
    layers_of_which_no_expert_is_hot_yet_are_asked_too,
    a_kernel_that_is_tuned_apart_is_refused,
    numbers_of_tokens_are_those_that_kernels_are_tuned_for,
)
