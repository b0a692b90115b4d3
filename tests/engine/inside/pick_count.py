"""Checks of the counting op: ``pick_count.py RESULT``; needs torch, not vLLM.

RESULT becomes a JSON object: by the name of each check, null or why it failed.
"""

import os
from collections.abc import Iterator

import torch
from checks import tell

from expert_bank import ops, pick_count

EXPERTS = 16
K = 4


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


CHECKS = (
    reference_counts_as_python_does,
    kernel_counts_as_the_reference,
    kernel_wraps_at_32_bits,
    kernel_leaves_out_ids_that_are_no_expert,
    reference_refuses_ids_that_are_no_expert,
    op_keeps_torchs_contract,
    registering_again_changes_nothing,
    compiled_code_keeps_the_op,
)


if __name__ == "__main__":
    tell(CHECKS)
