"""Checks of the splitting op: ``split.py RESULT``; needs torch and Triton, not vLLM."""

from collections.abc import Iterator

import torch
from checks import DEVICE, tell
from maps import random_table

from expert_bank import ops
from expert_bank.split import split, split_cuda, split_reference
from expert_bank.table_layout import BANK, COLD, HOT, PLACE

EXPERTS = 16
K = 4
CPU = torch.device("cpu")
Case = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def cases() -> Iterator[Case]:
    """Draw counts, ids, scheduled and table: both id types, no row to many, all maps' extremes."""
    source = torch.Generator().manual_seed(7)
    for dtype in (torch.int32, torch.int64):
        for rows in (0, 1, 2, 63, 64, 65, 200):
            for scheduled in sorted({0, 1, rows // 2, max(rows - 1, 0), rows}):
                ids = torch.randint(EXPERTS, (rows, K), generator=source).to(dtype)
                start = torch.randint(-(2**31), 2**31, (2 * EXPERTS,), generator=source)
                hot = (0, 5, EXPERTS)[scheduled % 3]
                table = random_table(source, experts=EXPERTS, hot=hot, cold=EXPERTS)
                for given in (ids, ids.repeat(1, 2)[:, ::2], ids.t().contiguous().t()):
                    yield (
                        start.to(torch.int32),
                        given,
                        torch.tensor([scheduled], dtype=torch.int32),
                        table,
                    )


def on_device(case: Case) -> Case:
    """A case where the kernel runs, in memory of its own."""
    counts, ids, scheduled, table = (each.to(DEVICE, copy=True) for each in case)
    return counts, ids, scheduled, table


def by_hand(case: Case) -> tuple[list[int], list[list[int]]]:
    """Count and map in Python's own integers, as signed 32-bit cells show them."""
    start, ids, scheduled, table = case
    counts, bank, place = start.tolist(), table[BANK].tolist(), table[PLACE].tolist()
    for row in ids.tolist()[: scheduled.item()]:
        for expert in row:
            counts[bank[expert] * EXPERTS + expert] += 1
    wrapped = [(each + 2**31) % 2**32 - 2**31 for each in counts]
    return wrapped, [[place[expert] for expert in row] for row in ids.tolist()]


def reference_splits_as_python_does() -> None:
    """The reference by itself, as the op, and as what a layer calls."""
    ops.register()
    for case in cases():
        counts, places = by_hand(case)
        for function in (split_reference, torch.ops.expert_bank.split, split):
            found = case[0].clone()
            answer = function(found, *case[1:])
            assert found.tolist() == counts
            assert answer.tolist() == places
            assert (answer.dtype, answer.is_contiguous()) == (case[1].dtype, True)


def kernel_splits_as_python_does() -> None:
    """Places of padding too; counts of tokens alone."""
    for case in cases():
        counts, places = by_hand(case)
        given = on_device(case)
        answer = split_cuda(*given)
        assert given[0].tolist() == counts
        assert answer.tolist() == places
        assert (answer.dtype, answer.is_contiguous()) == (case[1].dtype, True)


def kernel_wraps_at_32_bits() -> None:
    """A cell that held all that it can."""
    counts = torch.full((2 * EXPERTS,), -1, dtype=torch.int32, device=DEVICE)
    table = torch.zeros(4, EXPERTS, dtype=torch.int32, device=DEVICE)
    table[BANK] = COLD
    ids = torch.zeros(5, K, dtype=torch.int64, device=DEVICE)
    split_cuda(counts, ids, torch.tensor([5], dtype=torch.int32, device=DEVICE), table)
    assert counts[EXPERTS].item() == 5 * K - 1
    assert (counts == -1).sum().item() == 2 * EXPERTS - 1


def wild(scheduled: int, device: torch.device) -> tuple[torch.Tensor, Case]:
    """Ids that are no expert in the second row; counts and table within memory of their own."""
    memory = torch.full((10 * EXPERTS,), 77, dtype=torch.int32)
    memory[2 * EXPERTS : 4 * EXPERTS] = 0
    table = memory[5 * EXPERTS : 9 * EXPERTS].view(4, EXPERTS)
    table.copy_(torch.arange(1, 4 * EXPERTS + 1, dtype=torch.int32).view(4, EXPERTS))
    table[BANK] = HOT
    memory = memory.to(device)
    ids = torch.tensor([[0, 1, EXPERTS - 1, 2], [-1, EXPERTS, 2**31 - 1, -(2**31)]])
    return memory, (
        memory[2 * EXPERTS : 4 * EXPERTS],
        ids.to(device),
        torch.tensor([scheduled], dtype=torch.int32, device=device),
        memory[5 * EXPERTS : 9 * EXPERTS].view(4, EXPERTS),
    )


def ids_that_are_no_expert_get_place_0() -> None:
    """In padding by all; in a token's row the kernel leaves them out of the counts."""
    for function, device, scheduled in (
        (split_reference, CPU, 1),
        (split_cuda, DEVICE, 1),
        (split_cuda, DEVICE, 2),
    ):
        for dtype in (torch.int32, torch.int64):
            memory, (counts, ids, tokens, table) = wild(scheduled, device)
            before = memory.clone()
            answer = function(counts, ids.to(dtype), tokens, table)
            known = table[PLACE][[0, 1, EXPERTS - 1, 2]].tolist()
            assert answer.tolist() == [known, [0, 0, 0, 0]]
            changed = (memory - before).nonzero().flatten().tolist()
            assert changed == [2 * EXPERTS + each for each in (0, 1, 2, EXPERTS - 1)]


def reference_refuses_tokens_ids_that_are_no_expert() -> None:
    """It raises, and counts nothing."""
    memory, case = wild(2, CPU)
    before = memory.clone()
    try:
        split_reference(*case)
    except IndexError:
        pass
    else:
        raise AssertionError(case)
    assert memory.equal(before)


def one_wrong_bank_shows() -> None:
    """The negative control: a table whose bytes moved without it."""
    case = next(each for each in cases() if each[1].shape[0] == 200 and each[2].item() == 200)
    expected = by_hand(case)
    table = case[3].clone()
    table[BANK, 3] = 1 - table[BANK, 3]
    found = on_device((*case[:3], table))
    split_cuda(*found)
    changed = [
        each
        for each, (a, b) in enumerate(zip(expected[0], found[0].tolist(), strict=True))
        if a != b
    ]
    assert changed == [3, EXPERTS + 3]


def op_keeps_torchs_contract() -> None:
    """Schema, fake, and dispatch under AOT, by torch's own check."""
    ops.register()
    for rows, dtype in ((0, torch.int32), (1, torch.int64), (65, torch.int32)):
        ids = torch.randint(EXPERTS, (rows, K)).to(dtype)
        counts = torch.zeros(2 * EXPERTS, dtype=torch.int32)
        scheduled = torch.tensor([rows], dtype=torch.int32)
        table = random_table(torch.Generator().manual_seed(rows), experts=EXPERTS, hot=5, cold=16)
        found = torch.library.opcheck(
            torch.ops.expert_bank.split.default, on_device((counts, ids, scheduled, table))
        )
        assert set(found.values()) == {"SUCCESS"}, found


def registering_again_changes_nothing() -> None:
    """Every worker registers, whatever was before; both ops are there behind it."""
    ops.register()
    ops.register()
    assert ops.registered()
    assert all(hasattr(torch.ops.expert_bank, name) for name in ("count_picks", "split"))


def compiled_code_keeps_the_op() -> None:
    """What a layer calls becomes the op, with the settings that vLLM compiles with."""
    ops.register()

    def forward(
        x: torch.Tensor,
        counts: torch.Tensor,
        ids: torch.Tensor,
        scheduled: torch.Tensor,
        table: torch.Tensor,
    ) -> torch.Tensor:
        return x[split(counts, ids, scheduled, table)] + 1

    x = torch.arange(2.0 * EXPERTS, device=DEVICE)
    for options in (None, {"enable_auto_functionalized_v2": False, "dce": True}):
        torch.compiler.reset()
        compiled = torch.compile(forward, fullgraph=True, dynamic=True, options=options)
        for case in cases():
            if not case[1].is_contiguous():
                continue  # every layout would be compiled anew
            counts, places = by_hand(case)
            given = on_device(case)
            answer = compiled(x, *given)
            assert given[0].tolist() == counts
            assert (answer - 1).tolist() == places


CHECKS = (
    reference_splits_as_python_does,
    kernel_splits_as_python_does,
    kernel_wraps_at_32_bits,
    ids_that_are_no_expert_get_place_0,
    reference_refuses_tokens_ids_that_are_no_expert,
    one_wrong_bank_shows,
    op_keeps_torchs_contract,
    registering_again_changes_nothing,
    compiled_code_keeps_the_op,
)


if __name__ == "__main__":
    tell(CHECKS)
