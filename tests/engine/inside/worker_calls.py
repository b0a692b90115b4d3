"""Checks of what a worker answers to a listed swap: ``worker_calls.py RESULT``; needs vLLM, no engine."""

import copy
from functools import partial
from typing import Any

import torch
from checks import tell
from small_banks import MODES, Small, raised, small

from expert_bank.glue.extension import WorkerExtension
from expert_bank.pace import Pace
from expert_bank.refused import Refused
from expert_bank.steering import follow, hot_experts

PACE = Pace(every=100, swaps=2, tokens_per_swap=0, noise=0, margin=0, residence=0)
FIRST = [[0, 1, 2, 3]] * 2


def worker(mode: Any = "mirror") -> tuple[WorkerExtension, Small]:  # noqa: ANN401 - one of MODES
    """A worker with two layers, experts 0..3 of 8 hot, and a map that follows."""
    banks = small([4, 4], mode, experts=8, first=FIRST)
    follow(banks.two_bank, PACE)
    made = WorkerExtension()
    made.two_bank = banks.two_bank
    return made, banks


def picked(banks: Small, experts: list[int]) -> None:
    """Count picks of four tokens in both layers."""
    ids = torch.tensor([experts] * 4, dtype=torch.int32)
    with banks.two_bank.counter.step(len(ids)):
        for layer in range(2):
            banks.places(ids, layer)


def seen(banks: Small) -> tuple[Any, ...]:
    """What the policy knows."""
    following = banks.two_bank.following
    assert following is not None
    policy = following.policy
    return copy.deepcopy((policy.scores.tolist(), policy.shadow.tolist(), policy.told()))


def listed_swaps_are_made() -> None:
    """In both modes, at once, and told."""
    for mode in MODES:
        made, banks = worker(mode)
        told = made.expert_bank_swap([[0, 5, 1], [1, 7, 0]])
        assert (told["swaps"], told["barriers"], told["failures"]) == (2, 1, [])
        assert told["bytes"] > 0
        assert hot_experts(banks.two_bank) == [[0, 2, 3, 5], [1, 2, 3, 7]]
        banks.require_whole()


def what_was_picked_before_is_scored_under_the_old_map() -> None:
    """The picks of an expert that the swap promotes were cold ones."""
    made, banks = worker()
    picked(banks, [4, 5, 6])
    made.expert_bank_swap([[0, 5, 1]])
    following = banks.two_bank.following
    assert following is not None
    assert following.policy.scores[:, 4:7].round(1).tolist() == [[4.0] * 3] * 2
    assert following.policy.shadow.tolist() == [[True] * 4 + [False] * 4] * 2


def a_refused_swap_leaves_rows_and_policy_as_they_were() -> None:
    """Whatever is wrong with it, and with picks that the policy has not seen yet."""
    wrong: list[Any] = [
        [[0, 1, 2]],  # 1 is hot
        [[0, 5, 6]],  # 6 is cold
        [[2, 5, 1]],
        [[0, 8, 1]],
        [[0, 5, 1], [0, 5, 2]],
        [[0, None, None]],
        [[True, 5, 1]],
        [[0, 5]],
        "0, 5, 1",
    ]
    for swaps in wrong:
        made, banks = worker()
        picked(banks, [4, 5, 6])
        before = seen(banks)
        assert raised(Refused, partial(made.expert_bank_swap, swaps)), swaps
        assert seen(banks) == before, swaps
        assert hot_experts(banks.two_bank) == FIRST
        assert banks.two_bank.barrier.totals.swaps == 0


def during_a_warm_up_it_is_refused_and_seen_by_nobody() -> None:
    """As what sets a whole map is."""
    made, banks = worker()
    picked(banks, [4, 5, 6])
    before = seen(banks)
    with banks.two_bank.barrier.shut("warm-up"):
        for ask in (
            partial(made.expert_bank_swap, [[0, 5, 1]]),
            partial(made.expert_bank_map, [[4, 5, 6, 7]] * 2),
        ):
            assert raised(Refused, ask) == "no row may be swapped during warm-up"
    assert seen(banks) == before


def where_all_are_resident_it_says_so() -> None:
    """And swaps nothing."""
    told = raised(RuntimeError, partial(WorkerExtension().expert_bank_swap, [[0, 5, 1]]))
    assert "moe_hot_experts is not set" in told


CHECKS = (
    listed_swaps_are_made,
    what_was_picked_before_is_scored_under_the_old_map,
    a_refused_swap_leaves_rows_and_policy_as_they_were,
    during_a_warm_up_it_is_refused_and_seen_by_nobody,
    where_all_are_resident_it_says_so,
)


if __name__ == "__main__":
    tell(CHECKS)
