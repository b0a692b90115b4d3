"""Checks of the counter of picks: ``pick_counter.py RESULT``; needs torch, not vLLM."""

import random
from contextlib import suppress

import torch
from checks import tell

from expert_bank import ops
from expert_bank.counter import SOME_ROWS, WRAPS_AT, PickCounter
from expert_bank.refused import Refused

EXPERTS = 16
K = 4
LAYERS = 3


def made() -> PickCounter:
    """Make a counter of three layers."""
    ops.register()
    names = [f"layer.{number}" for number in range(LAYERS)]
    return PickCounter(names, experts=EXPERTS, picks_per_token=K, device=torch.device("cpu"))


def forward(counter: PickCounter, tokens: int, expert: int = 0) -> None:
    """Pick one expert for every slot of every token, in every layer."""
    ids = torch.full((tokens + 3, K), expert)
    with counter.step(tokens):
        for counts in counter.counts:
            torch.ops.expert_bank.count_picks(counts, ids, counter.scheduled)


def snapshots_are_int64_and_stay() -> None:
    """int64[L, E]; a later one does not change an earlier one."""
    counter = made()
    forward(counter, 5, expert=2)
    first = counter.snapshot()
    assert (first.dtype.name, first.shape) == ("int64", (LAYERS, EXPERTS))
    kept = first.tolist()
    forward(counter, 7, expert=3)
    second = counter.snapshot()
    assert first.tolist() == kept
    assert (second[:, 2] == 5 * K).all()
    assert (second[:, 3] == 7 * K).all()
    assert second.sum() == counter.tokens * K * LAYERS == 12 * K * LAYERS


def differences_are_exact_across_a_wrap() -> None:
    """Cells that stood just below 2**32 at the last reading."""
    source = random.Random(3)  # noqa: S311 - no secret
    counter = made()
    for counts in counter.counts:
        counts.copy_(torch.tensor([-source.randrange(1, 40) for _ in range(EXPERTS)]))
    before = counter.snapshot()
    assert (before > 2**32 - 41).all()
    for expert in range(EXPERTS):
        forward(counter, 11, expert=expert)
    assert (counter.snapshot() - before == 11 * K).all()
    assert all(bool((counts >= 0).all()) for counts in counter.counts)


def nothing_is_lost_when_nobody_reads() -> None:
    """A step reads by itself before a cell could have gone once around."""
    counter = made()
    for counts in counter.counts:
        counts[0] = -K
    counter.unread = WRAPS_AT - K
    forward(counter, 1)
    assert all(counts[0] == 0 for counts in counter.counts)
    assert (counter.snapshot()[:, 0] == 2**32).all()


def a_forward_outside_of_a_step_is_not_counted() -> None:
    """Profiling, warm-up and capture run there."""
    counter = made()
    ids = torch.zeros(9, K, dtype=torch.int64)
    for counts in counter.counts:
        torch.ops.expert_bank.count_picks(counts, ids, counter.scheduled)
    assert not counter.snapshot().any()


def a_failed_step_leaves_nothing_scheduled() -> None:
    """What runs behind it is not counted for it."""
    counter = made()
    with suppress(IndexError), counter.step(3):
        assert counter.scheduled.item() == 3
        [].pop()
    assert counter.scheduled.item() == 0
    assert counter.tokens == 0


def a_layer_that_ran_on_some_of_the_tokens_is_told() -> None:
    """A feature may run the last layers on a prompt's end alone; counted as if on all, it were wrong."""
    counter = made()
    counter.serves = True
    forward(counter, 9)
    assert counter.snapshot().sum() == 9 * K * LAYERS
    ids = torch.zeros(9, K, dtype=torch.int64)
    with counter.step(9):
        for number, counts in enumerate(counter.counts):
            rows = ids if number < LAYERS - 1 else ids[-2:]
            torch.ops.expert_bank.count_picks(counts, rows, counter.scheduled)
    for _ in range(2):
        said = refused(counter)
        assert said.hint == SOME_ROWS
        assert f"layer.{LAYERS - 1} counted {11 * K} picks, and 18 tokens make {18 * K}" in str(
            said
        )


def refused(counter: PickCounter) -> Refused:
    """Read counts that are not exact."""
    try:
        counter.snapshot()
    except Refused as error:
        return error
    raise AssertionError("it was counted as if all had run")


CHECKS = (
    snapshots_are_int64_and_stay,
    differences_are_exact_across_a_wrap,
    nothing_is_lost_when_nobody_reads,
    a_forward_outside_of_a_step_is_not_counted,
    a_failed_step_leaves_nothing_scheduled,
    a_layer_that_ran_on_some_of_the_tokens_is_told,
)


if __name__ == "__main__":
    tell(CHECKS)
