"""Checks of kernels within captured CUDA graphs: ``graphs.py RESULT``; needs torch and Triton.

Under the interpreter there is no graph, and a function that is run again stands in for one: so the
checks themselves are known to hold before a GPU is at hand.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from banks import Banks, row_addresses
from checks import DEVICE, INTERPRETED, bits, tell
from exchanges import RowCopy, exchange
from maps import random_table

from expert_bank.finalize import finalize
from expert_bank.grouped_gemm import grouped_gemm_cuda
from expert_bank.row_copy import RowCopies
from expert_bank.split import split_cuda
from expert_bank.table_layout import BANK
from expert_bank.unfinalized import Unfinalized, finalize_merged

EXPERTS, HOT_ROWS, COLD_ROWS = 8, 5, 7
TOKENS, K, WIDTH, INTERMEDIATE = 6, 3, 64, 32
REPLAYS = 4 if INTERPRETED else 1000
# ``tl.dot`` of bfloat16 is wrong in the interpreter.
DTYPES = (torch.float16,) if INTERPRETED else (torch.float16, torch.bfloat16, torch.float32)


class Replayed(Protocol):
    """A graph, or what stands in for one."""

    def replay(self) -> None:
        """Run it again over what its tensors hold by now."""


class Again:
    """Runs a function again."""

    def __init__(self, body: Callable[[], object]) -> None:
        self._body = body

    def replay(self) -> None:
        """Run it."""
        self._body()


def captured(body: Callable[[], object]) -> Replayed:
    """Run a function once, so that its kernels are compiled; then capture it."""
    body()
    if INTERPRETED:
        return Again(body)
    graph: Replayed = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        body()
    return graph


def pinned(rows: torch.Tensor) -> torch.Tensor:
    """Host memory that the device reads in place."""
    return rows if INTERPRETED else rows.pin_memory()


def a_graph_copies_what_its_tensors_hold() -> None:
    """Captured with nothing to copy; replayed with rows of pinned memory."""
    sizes = (48, 8192 + 16)
    sources = [pinned(torch.randint(256, (6, size)).to(torch.uint8)) for size in sizes]
    targets = [torch.zeros(6, size, dtype=torch.uint8, device=DEVICE) for size in sizes]
    copies = RowCopies(sizes, rows=4, device=DEVICE)
    graph = captured(copies.launch)
    total = int(copies.copied)
    for number in range(REPLAYS):
        count = number * 3 % 5
        expected = [each.clone() for each in targets]
        for tensor in range(len(sizes)):
            to, of = torch.randperm(6)[:4], torch.randperm(6)[:4]
            copies.destinations[tensor] = row_addresses(targets[tensor], to.to(DEVICE))
            copies.sources[tensor] = row_addresses(sources[tensor], of.to(DEVICE))
            expected[tensor][to[:count].to(DEVICE)] = sources[tensor][of[:count]].to(DEVICE)
        copies.count.fill_(count)
        graph.replay()
        assert all(a.equal(b) for a, b in zip(targets, expected, strict=True))
        total += count * sum(sizes)
        assert copies.copied.item() == total


def a_graph_follows_the_map_and_the_router() -> None:
    """Split, experts and finalize, captured once: ids, counts and rows change behind it."""
    source = torch.Generator().manual_seed(1)
    x = torch.randn(TOKENS, WIDTH, generator=source).to(DTYPES[0]).to(DEVICE)
    weights = torch.rand(TOKENS, K, generator=source).to(DEVICE)
    w13 = torch.randn(EXPERTS, 2 * INTERMEDIATE, WIDTH, generator=source).to(DTYPES[0])
    w2 = torch.randn(EXPERTS, WIDTH, INTERMEDIATE, generator=source).to(DTYPES[0])
    banks = [Banks(HOT_ROWS, COLD_ROWS, each) for each in (w13, w2)]
    ids = torch.zeros(TOKENS, K, dtype=torch.int32, device=DEVICE)
    table = torch.zeros(4, EXPERTS, dtype=torch.int32, device=DEVICE)
    counts = torch.zeros(2 * EXPERTS, dtype=torch.int32, device=DEVICE)
    scheduled = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    places, output = torch.zeros_like(ids), torch.zeros_like(x)
    addresses = [torch.zeros(EXPERTS, dtype=torch.int64, device=DEVICE) for _ in banks]

    def step() -> None:
        places.copy_(split_cuda(counts, ids, scheduled, table))
        picks = grouped_gemm_cuda(x, ids, *addresses, intermediate=INTERMEDIATE)
        finalize(picks, weights, output)

    def enter(seed: int) -> None:
        of_map = torch.Generator().manual_seed(seed)
        drawn = random_table(of_map, experts=EXPERTS, hot=HOT_ROWS, cold=COLD_ROWS)
        table.copy_(drawn)
        for held, each in zip(addresses, banks, strict=True):
            held.copy_(each.lay(drawn))
        routed = torch.Generator().manual_seed(seed // 2)
        ids.copy_(torch.rand(TOKENS, EXPERTS, generator=routed).topk(K).indices)
        scheduled.fill_(seed % (TOKENS + 1))

    enter(0)
    graph = captured(step)
    answers = []
    for seed in range(2, REPLAYS + 2):
        enter(seed)
        counts.zero_()
        step()
        expected = [each.clone() for each in (counts, places, output)]
        for each in (counts, places, output):
            each.zero_()
        graph.replay()
        assert [bits(each) for each in (counts, places, output)] == [
            bits(each) for each in expected
        ]
        answers.append(bits(output))
    # Two maps in turn for each routing: as many answers as routings.
    assert answers[::2] == answers[1::2]
    assert len(set(answers)) == len(answers) // 2


def a_graph_answers_alike_through_swaps() -> None:
    """Captured once for each dtype; behind every replay two experts change banks, by a graph, too."""
    for dtype in DTYPES:
        source = torch.Generator().manual_seed(5)
        x = torch.randn(TOKENS, WIDTH, generator=source).to(dtype).to(DEVICE)
        weights = torch.rand(TOKENS, K, generator=source).to(DEVICE)
        w13 = torch.randn(EXPERTS, 2 * INTERMEDIATE, WIDTH, generator=source).to(dtype) / 8
        w2 = torch.randn(EXPERTS, WIDTH, INTERMEDIATE, generator=source).to(dtype) / 8
        ids = torch.rand(TOKENS, EXPERTS, generator=source).topk(K).indices.int()
        banks = [Banks(HOT_ROWS, COLD_ROWS, each) for each in (w13, w2)]
        drawn = random_table(
            source, experts=EXPERTS, hot=HOT_ROWS, cold=COLD_ROWS, hot_experts=HOT_ROWS
        )
        addresses = [each.lay(drawn) for each in banks]
        table, routed = drawn.to(DEVICE), ids.to(DEVICE)
        counts = torch.zeros(2 * EXPERTS, dtype=torch.int32, device=DEVICE)
        scheduled = torch.full((1,), TOKENS, dtype=torch.int32, device=DEVICE)
        output = torch.zeros_like(x)

        def step(
            x: torch.Tensor = x,
            routed: torch.Tensor = routed,
            weights: torch.Tensor = weights,
            counts: torch.Tensor = counts,
            scheduled: torch.Tensor = scheduled,
            table: torch.Tensor = table,
            output: torch.Tensor = output,
            addresses: Sequence[torch.Tensor] = addresses,
        ) -> None:
            split_cuda(counts, routed, scheduled, table)
            w13, w2 = addresses
            picks = grouped_gemm_cuda(x, routed, w13, w2, intermediate=INTERMEDIATE)
            finalize(picks, weights, output)

        graph = captured(step)
        first = bits(output)
        assert not output.isnan().any()
        copy = RowCopy(banks)
        copy.copies.count.zero_()
        copying = captured(copy.copies.launch)
        copy.copies.count.fill_(1)
        copy.launch = copying.replay
        counts.zero_()
        expected = torch.zeros(2 * EXPERTS, dtype=torch.int64)
        for _ in range(REPLAYS):
            exchange(drawn, banks, copy.launched, source)
            table.copy_(drawn)
            for held, each in zip(addresses, banks, strict=True):
                held.copy_(each.addresses(drawn))
            output.fill_(torch.nan)
            graph.replay()
            assert bits(output) == first
            cells = drawn[BANK][ids.long()].long() * EXPERTS + ids
            expected += torch.bincount(cells.flatten(), minlength=2 * EXPERTS)
        assert counts.cpu().long().equal(expected)


def a_graph_merges_what_two_calls_wrote() -> None:
    """The maps change between replays; a pick that no call has is counted."""
    rows = [torch.randn(TOKENS * K, WIDTH, device=DEVICE).to(DTYPES[0]) for _ in range(2)]
    weights = torch.rand(TOKENS, K, device=DEVICE)
    maps = [torch.zeros(TOKENS, K, dtype=torch.int32, device=DEVICE) for _ in range(2)]
    hot, cold = (Unfinalized(r, weights, m) for r, m in zip(rows, maps, strict=True))
    output = torch.zeros(TOKENS, WIDTH, dtype=DTYPES[0], device=DEVICE)
    wrong = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    graph = captured(lambda: finalize_merged(hot, cold, output, wrong))
    wrong.zero_()
    for _ in range(REPLAYS):
        drawn = torch.randperm(TOKENS * K, device=DEVICE).view(TOKENS, K).int()
        in_hot = torch.rand(TOKENS, K, device=DEVICE) < 0.7
        maps[0].copy_(drawn.masked_fill(~in_hot, -1))
        maps[1].copy_(drawn.masked_fill(in_hot, -1))
        graph.replay()
        expected = torch.zeros_like(output)
        picks = torch.where(in_hot[..., None], rows[0][drawn], rows[1][drawn])
        finalize(picks.contiguous(), weights, expected)
        assert bits(output) == bits(expected)
    assert wrong.item() == 0
    maps[0].fill_(-1)
    maps[1].fill_(-1)
    graph.replay()
    assert wrong.item() == TOKENS * K


CHECKS = (
    a_graph_copies_what_its_tensors_hold,
    a_graph_follows_the_map_and_the_router,
    a_graph_answers_alike_through_swaps,
    a_graph_merges_what_two_calls_wrote,
)


if __name__ == "__main__":
    tell(CHECKS)
