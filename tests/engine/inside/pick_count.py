"""Checks of the counting op and its counter: ``pick_count.py RESULT``; needs torch, not vLLM.

RESULT becomes a JSON object: by the name of each check, null or why it failed.
"""

import os
import random
from collections.abc import Iterator
from contextlib import suppress

import torch
from checks import tell

from expert_bank import ops, pick_count
from expert_bank.counter import SOME_ROWS, WRAPS_AT, PickCounter
from expert_bank.refused import Refused

EXPERTS = 16
K = 4
LAYERS = 3


def cases() -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Draw counts, ids and scheduled: both id types, no row to many, every part of them."""
    source = torch.Generator().manual_seed(7)
    for dtype in (torch.int32, torch.int64):
        for rows in (0, 1, 2, 63, 64, 65, 200, 1000):
            for scheduled in sorted({0, 1, rows // 2, max(rows - 1, 0), rows}):
                ids = torch.randint(EXPERTS, (rows, K), generator=source).to(dtype)
                start = torch.randint(2**31, (EXPERTS,), generator=source).to(torch.int32)
                for given in (ids, ids.repeat(1, 2)[:, ::2], ids.t().contiguous().t()):
                    yield start, given, torch.tensor([scheduled], dtype=torch.int32)


def by_hand(counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor) -> list[int]:
    """Count in Python's own integers, as signed 32-bit cells show them."""
    found = counts.tolist()
    for row in ids.tolist()[: scheduled.item()]:
        for expert in row:
            found[expert] += 1
    return [(each + 2**31) % 2**32 - 2**31 for each in found]


def reference_counts_as_python_does() -> None:
    """The reference, called by itself and as the op."""
    ops.register()
    for start, ids, scheduled in cases():
        for count in (pick_count.count_picks_reference, torch.ops.expert_bank.count_picks):
            counts = start.clone()
            count(counts, ids, scheduled)
            assert counts.tolist() == by_hand(start, ids, scheduled)


def kernel_counts_as_the_reference() -> None:
    """The Triton kernel, in the interpreter."""
    assert os.environ["TRITON_INTERPRET"] == "1"
    from expert_bank.pick_count_triton import launch  # noqa: PLC0415 - imports Triton

    for start, ids, scheduled in cases():
        counts, expected = start.clone(), start.clone()
        launch(counts, ids, scheduled)
        pick_count.count_picks_reference(expected, ids, scheduled)
        assert counts.tolist() == expected.tolist(), (ids.shape, ids.dtype, scheduled)


def kernel_wraps_at_32_bits() -> None:
    """A cell that held all that it can."""
    from expert_bank.pick_count_triton import launch  # noqa: PLC0415 - the same

    counts = torch.full((EXPERTS,), -1, dtype=torch.int32)
    launch(counts, torch.zeros(5, K, dtype=torch.int64), torch.tensor([5], dtype=torch.int32))
    assert counts[0].item() == 5 * K - 1


def kernel_leaves_out_ids_that_are_no_expert() -> None:
    """Outside [0, E) nothing is written."""
    from expert_bank.pick_count_triton import launch  # noqa: PLC0415 - the same

    memory = torch.zeros(3 * EXPERTS, dtype=torch.int32)
    ids = torch.tensor([[-1, 0, EXPERTS, EXPERTS - 1]])
    launch(memory[EXPERTS : 2 * EXPERTS], ids, torch.tensor([1], dtype=torch.int32))
    assert memory.nonzero().flatten().tolist() == [EXPERTS, 2 * EXPERTS - 1]


def reference_refuses_ids_that_are_no_expert() -> None:
    """It raises, and writes nothing outside of [0, E)."""
    for wrong in (-1, EXPERTS):
        memory = torch.zeros(3 * EXPERTS, dtype=torch.int32)
        counts, ids = memory[EXPERTS : 2 * EXPERTS], torch.tensor([[0, 1, 2, wrong]])
        try:
            pick_count.count_picks_reference(counts, ids, torch.tensor([1], dtype=torch.int32))
        except IndexError:
            assert not memory[:EXPERTS].any()
            assert not memory[2 * EXPERTS :].any()
        else:
            raise AssertionError(wrong)


def op_keeps_torchs_contract() -> None:
    """Schema, fake, and dispatch under AOT, by torch's own check."""
    ops.register()
    for rows, dtype in ((0, torch.int32), (1, torch.int64), (65, torch.int32)):
        ids = torch.randint(EXPERTS, (rows, K)).to(dtype)
        counts = torch.zeros(EXPERTS, dtype=torch.int32)
        scheduled = torch.tensor([rows], dtype=torch.int32)
        found = torch.library.opcheck(
            torch.ops.expert_bank.count_picks.default, (counts, ids, scheduled)
        )
        assert set(found.values()) == {"SUCCESS"}, found


def registering_again_changes_nothing() -> None:
    """Every worker registers, whatever was before."""
    ops.register()
    ops.register()
    assert ops.registered()


def compiled_code_keeps_the_op() -> None:
    """Though nothing in it reads the counts; with the settings that vLLM compiles with."""
    ops.register()

    def forward(
        x: torch.Tensor, counts: torch.Tensor, ids: torch.Tensor, scheduled: torch.Tensor
    ) -> torch.Tensor:
        torch.ops.expert_bank.count_picks(counts, ids, scheduled)
        return x * 2 + 1

    for options in (None, {"enable_auto_functionalized_v2": False, "dce": True}):
        torch.compiler.reset()
        compiled = torch.compile(forward, fullgraph=True, dynamic=True, options=options)
        for start, ids, scheduled in cases():
            if not ids.is_contiguous():
                continue  # every layout would be compiled anew
            counts = start.clone()
            answer = compiled(torch.ones(ids.shape[0], 2), counts, ids, scheduled)
            assert counts.tolist() == by_hand(start, ids, scheduled)
            assert bool((answer == 3).all())


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
    a_layer_that_ran_on_some_of_the_tokens_is_told,
    reference_counts_as_python_does,
    kernel_counts_as_the_reference,
    kernel_wraps_at_32_bits,
    kernel_leaves_out_ids_that_are_no_expert,
    reference_refuses_ids_that_are_no_expert,
    op_keeps_torchs_contract,
    registering_again_changes_nothing,
    compiled_code_keeps_the_op,
    snapshots_are_int64_and_stay,
    differences_are_exact_across_a_wrap,
    nothing_is_lost_when_nobody_reads,
    a_forward_outside_of_a_step_is_not_counted,
    a_failed_step_leaves_nothing_scheduled,
)


if __name__ == "__main__":
    tell(CHECKS)
