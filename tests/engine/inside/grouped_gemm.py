"""Checks of the grouped GEMM: ``grouped_gemm.py RESULT``; needs torch and Triton, not vLLM."""

from dataclasses import dataclass

import torch
from banks import Banks
from checks import DEVICE, INTERPRETED, bits, tell
from exchanges import RowCopy, exchange
from maps import random_table

from expert_bank.finalize import finalize_reference
from expert_bank.grouped_gemm import grouped_gemm_cuda, grouped_gemm_reference
from expert_bank.grouped_gemm_triton import FEW, MANY, tiles_for
from expert_bank.pick_blocks import blocks_at_most, pick_blocks
from expert_bank.table_layout import BANK, COLD, HOT, ROW

EXPERTS, HOT_ROWS, COLD_ROWS = 8, 5, 7
K = 3
MAPS = 200
# ``tl.dot`` of bfloat16 is wrong in the interpreter.
DTYPES = (
    (torch.float16, torch.float32)
    if INTERPRETED
    else (
        torch.float16,
        torch.bfloat16,
        torch.float32,
    )
)


@dataclass(frozen=True)
class Layer:
    """Input, routing and weights of one layer."""

    x: torch.Tensor
    ids: torch.Tensor
    w13: Banks
    w2: Banks

    def run(self, w13: torch.Tensor, w2: torch.Tensor) -> torch.Tensor:
        """[T, k, K] from rows at these addresses."""
        intermediate = self.w2.weights.shape[2]
        return grouped_gemm_cuda(self.x, self.ids, w13, w2, intermediate=intermediate)

    def under(self, table: torch.Tensor) -> torch.Tensor:
        """[T, k, K] with all rows where a map has them."""
        return self.run(self.w13.lay(table), self.w2.lay(table))


def layer(
    dtype: torch.dtype, *, tokens: int = 6, width: int = 64, intermediate: int = 32, seed: int = 11
) -> Layer:
    """Draw a layer whose every expert answers otherwise."""
    source = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=source).to(dtype)

    scores = torch.rand(tokens, EXPERTS, generator=source)
    w13 = normal(EXPERTS, 2 * intermediate, width) / width**0.5
    w2 = normal(EXPERTS, width, intermediate) / intermediate**0.5
    return Layer(
        normal(tokens, width).to(DEVICE),
        scores.topk(K, dim=1).indices.to(torch.int32).to(DEVICE),
        Banks(HOT_ROWS, COLD_ROWS, w13),
        Banks(HOT_ROWS, COLD_ROWS, w2),
    )


def maps(count: int) -> list[torch.Tensor]:
    """Maps with one hot expert to as many as there are rows."""
    source = torch.Generator().manual_seed(13)
    return [
        random_table(source, experts=EXPERTS, hot=HOT_ROWS, cold=COLD_ROWS) for _ in range(count)
    ]


def close(found: torch.Tensor, given: Layer) -> None:
    """Compare with the reference, all in float64."""
    exact = grouped_gemm_reference(
        given.x.double(), given.ids, given.w13.weights.double(), given.w2.weights.double()
    )
    error = (found.double() - exact).abs().max().item() / exact.abs().max().item()
    # Two roundings of 16 bits; in float32 those of the sums are as large.
    allowed = (16 if found.dtype == torch.float32 else 3) * torch.finfo(found.dtype).eps
    assert error < allowed, (found.dtype, error)


def blocks_hold_every_pick_once() -> None:
    """Those of one expert together, in the order of the picks."""
    source = torch.Generator().manual_seed(3)
    for tokens, k, experts, block in (
        (1, 1, 1, 16),
        (5, 3, 8, 16),
        (100, 4, 8, 16),
        (64, 6, 3, 64),
    ):
        for low, high in ((0, experts), (-2, experts + 2), (0, 1), (experts - 1, experts)):
            ids = torch.randint(low, high, (tokens, k), generator=source, dtype=torch.int32)
            found = pick_blocks(ids.to(DEVICE), experts, block)
            assert found.picks.shape == (blocks_at_most(tokens * k, experts, block), block)
            by_expert: dict[int, list[int]] = {}
            for pick, expert in enumerate(ids.flatten().tolist()):
                known = expert if 0 <= expert < experts else experts
                by_expert.setdefault(known, []).append(pick)
            expected = [
                (expert, picks[begin : begin + block])
                for expert, picks in sorted(by_expert.items())
                for begin in range(0, len(picks), block)
            ]
            empty = [tokens * k] * block
            rows = zip(found.experts.tolist(), found.picks.tolist(), strict=True)
            for number, (expert, picks) in enumerate(rows):
                if number < len(expected):
                    own, held = expected[number]
                    assert (expert, picks) == (own, (held + empty)[:block])
                else:
                    assert (expert, picks) == (-1, empty)


def output_is_close_to_float64() -> None:
    """Whole and broken tiles, one token and none, and more picks than a few."""
    for dtype in DTYPES:
        for tokens, width, intermediate in ((6, 64, 32), (1, 64, 64), (0, 64, 32), (7, 200, 72)):
            given = layer(dtype, tokens=tokens, width=width, intermediate=intermediate)
            found = given.under(maps(1)[0])
            assert found.shape == (tokens, K, width)
            if tokens:
                close(found, given)
    tokens = 180
    assert tiles_for(6 * K, EXPERTS) == FEW
    assert tiles_for(tokens * K, EXPERTS) == MANY
    given = layer(DTYPES[0], tokens=tokens, width=160)
    found = [given.under(table) for table in maps(2)]
    close(found[0], given)
    assert bits(found[0]) == bits(found[1])


def output_is_equal_for_every_map() -> None:
    """The same weights, scattered over two allocations by many maps."""
    for dtype in DTYPES:
        given = layer(dtype)
        first, *others = (bits(given.under(table)) for table in maps(MAPS))
        assert all(each == first for each in others)


def output_is_equal_through_swaps() -> None:
    """Rows exchanged between the banks, one expert of each bank a time, for every dtype."""
    for dtype in DTYPES:
        given = layer(dtype)
        source = torch.Generator().manual_seed(17)
        table = random_table(
            source, experts=EXPERTS, hot=HOT_ROWS, cold=COLD_ROWS, hot_experts=HOT_ROWS
        )
        first = bits(given.under(table))
        banks = (given.w13, given.w2)
        copy = RowCopy(banks)
        for number in range(MAPS):
            # The interpreter takes long over the copies' many programs.
            launched = not INTERPRETED or number % 8 == 0
            exchange(table, banks, copy.launched if launched else copy.plain, source)
            assert bits(given.run(*(each.addresses(table) for each in banks))) == first


def a_wrong_row_shows() -> None:
    """The negative control: a map that is ahead of the bytes reads poison, in those picks alone."""
    given = layer(DTYPES[0])
    table = maps(1)[0]
    right = given.under(table)
    expert = int(given.ids[0, 0])
    for banks in (given.w13, given.w2):
        ahead = table.clone()
        ahead[BANK, expert] = 1 - ahead[BANK, expert]
        rows = HOT_ROWS if ahead[BANK, expert] == HOT else COLD_ROWS
        used = table[ROW][table[BANK] == ahead[BANK, expert]].tolist()
        ahead[ROW, expert] = next(row for row in range(rows) if row not in used)
        addresses = [
            each.addresses(ahead if each is banks else table) for each in (given.w13, given.w2)
        ]
        found = given.run(*addresses)
        picked = (given.ids == expert)[..., None].expand_as(found)
        assert bool(found[picked].isnan().all())
        assert bits(found[~picked]) == bits(right[~picked])


def two_partial_sums_differ_where_slots_in_order_do_not() -> None:
    """The negative control: a sum of a hot and a cold part moves with the map."""
    given = layer(DTYPES[0])
    weights = torch.rand(given.ids.shape, generator=torch.Generator().manual_seed(5)).to(DEVICE)
    in_order, partial = set(), set()
    for table in maps(20):
        picks = given.under(table)
        sums = [torch.empty_like(given.x) for _ in range(3)]
        cold = (table[BANK].to(DEVICE)[given.ids.long()] == COLD).float()
        finalize_reference(picks, weights, sums[0])
        finalize_reference(picks, weights * (1 - cold), sums[1])
        finalize_reference(picks, weights * cold, sums[2])
        in_order.add(bits(sums[0]))
        partial.add(bits(sums[1] + sums[2]))
    assert len(in_order) == 1
    assert len(partial) > 1


def ids_that_are_no_expert_answer_with_zeros() -> None:
    """And read no row; other picks do not notice."""
    for tokens in (6, 180):
        given = layer(DTYPES[0], tokens=tokens)
        table = maps(1)[0]
        right = given.under(table)
        wild = given.ids.clone()
        wild[-1] = torch.tensor([-1, EXPERTS, 2**31 - 1], dtype=torch.int32)
        broken = Layer(given.x, wild, given.w13, given.w2)
        found = broken.under(table)
        assert not found[-1].any()
        assert bits(found[:-1]) == bits(right[:-1])


CHECKS = (
    blocks_hold_every_pick_once,
    output_is_close_to_float64,
    output_is_equal_for_every_map,
    output_is_equal_through_swaps,
    a_wrong_row_shows,
    two_partial_sums_differ_where_slots_in_order_do_not,
    ids_that_are_no_expert_answer_with_zeros,
)


if __name__ == "__main__":
    tell(CHECKS)
