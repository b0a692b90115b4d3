"""Checks of picks counted by bank: ``bank_counts.py RESULT``; needs torch, not vLLM."""

import random
from functools import partial

import numpy as np
import torch
from checks import tell
from small_banks import CPU, MODES, K, Small, picks, raised, random_swap, small

from expert_bank.counter import WRAPS_AT, PickCounter
from expert_bank.table_layout import COLD, HOT

EXPERTS = 9


def picks_by_tier_are_those_of_a_trace() -> None:
    """Random ids and swaps between forwards, in both modes; hits and misses sum to all picks."""
    for mode in MODES:
        banks, draw = small([4, 2, 0], mode, seed=6), random.Random(6)  # noqa: S311 - no secret
        two_bank = banks.two_bank
        counted = np.zeros((3, 2, EXPERTS), np.int64)
        tokens = 0
        for step in range(150):
            swap = random_swap(draw, banks)
            if swap is not None:
                two_bank.barrier.swap([swap])
            number = draw.randrange(1, 9)
            two_bank.barrier.forward()
            with two_bank.counter.step(number):
                for layer in range(3):
                    ids = picks(step * 3 + layer, number + draw.randrange(3))
                    banks.places(ids, layer)
                    hot = two_bank.table.is_hot()[layer]
                    for expert in ids[:number].flatten().tolist():
                        counted[layer, HOT if hot[expert] else COLD, expert] += 1
            tokens += number
            if step % 10 == 0:
                assert (two_bank.counter.by_bank() == counted).all(), step
        found = two_bank.counter.by_bank()
        assert (found == counted).all()
        assert (str(found.dtype), found.shape) == ("int64", (3, 2, EXPERTS))
        assert (found.sum(axis=(1, 2)) == tokens * K).all()
        assert (two_bank.counter.snapshot() == counted.sum(axis=1)).all()
        told = two_bank.told()
        assert told["hot_picks"] == counted[:, HOT].sum() > 0
        assert told["cold_picks"] == counted[:, COLD].sum() > 0
        assert told["hot_picks"] + told["cold_picks"] == two_bank.counter.tokens * K * 3
        assert counted[2, HOT].sum() == 0


def what_nobody_scheduled_is_mapped_and_not_counted() -> None:
    """Warm-up and capture run outside of a step; padding runs behind its tokens."""
    banks = small([4], "mirror", first=[[0, 1, 2, 3]])
    ids = picks(1, 30)
    assert banks.served(banks.places(ids, 0), 0).equal(banks.resident(ids))
    assert not banks.two_bank.counter.by_bank().any()
    with banks.two_bank.counter.step(7):
        assert banks.served(banks.places(ids, 0), 0).equal(banks.resident(ids))
    assert banks.two_bank.counter.by_bank().sum() == 7 * K


def a_rejected_id_counts_nothing() -> None:
    """An id that is no expert, of a token: neither tier takes any of its forward."""
    banks = small([4], "mirror", first=[[0, 1, 2, 3]])
    for wrong in (-1, EXPERTS):
        ids = picks(1, 5)
        ids[3, 1] = wrong
        told = raised(IndexError, partial(forward, banks, ids))
        assert told == "an expert id of a scheduled token is outside [0, 9)"
    assert not banks.two_bank.counter.by_bank().any()
    assert banks.two_bank.counter.tokens == 0


def forward(banks: Small, ids: torch.Tensor) -> None:
    """Split a scheduled forward's picks."""
    with banks.two_bank.counter.step(len(ids)):
        banks.places(ids, 0)


def tiers_are_exact_across_a_wrap() -> None:
    """Cells of both tiers that stood just below 2**32 at the last reading."""
    banks = small([4], "mirror", first=[[0, 1, 2, 3]])
    counter = banks.two_bank.counter
    (counts,) = counter.counts
    counts.copy_(-torch.arange(1, 2 * EXPERTS + 1, dtype=torch.int32))
    before = counter.by_bank()
    assert before.min() == 2**32 - 2 * EXPERTS
    for step in range(20):
        banks.forward(picks(step, 11))
    found = counter.by_bank() - before
    assert found.sum() == 20 * 11 * K
    assert not found[0, HOT, 4:].any()
    assert not found[0, COLD, :4].any()
    assert found[0, HOT, :4].all()
    assert found[0, COLD, 4:].all()
    assert (counts[:4] >= 0).all()
    assert (counts[EXPERTS + 4 :] >= 0).all()


def nothing_is_lost_when_nobody_reads() -> None:
    """A step reads both tiers by itself before a cell could have gone once around."""
    counter = PickCounter(["a"], experts=2, picks_per_token=K, device=CPU, banks=2)
    counter.counts[0].copy_(torch.tensor([-K, 5, -K, 7]))
    counter.unread = WRAPS_AT - K
    with counter.step(1):
        counter.counts[0][[0, 2]] += K
    assert counter.by_bank().tolist() == [[[2**32, 5], [2**32, 7]]]


CHECKS = (
    picks_by_tier_are_those_of_a_trace,
    what_nobody_scheduled_is_mapped_and_not_counted,
    a_rejected_id_counts_nothing,
    tiers_are_exact_across_a_wrap,
    nothing_is_lost_when_nobody_reads,
)


if __name__ == "__main__":
    tell(CHECKS)
