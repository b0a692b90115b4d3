"""Checks of the split that counts later: ``late_split.py RESULT``; on the CPU."""

from collections.abc import Callable

import torch
from checks import tell
from small_banks import raised, small

from expert_bank.counter import WRAPS_AT, PickCounter
from expert_bank.late_split import MOST, USED_AGAIN, LateSplit
from expert_bank.refused import Refused
from expert_bank.split import split_reference
from expert_bank.swaps import Swap
from expert_bank.table import Table
from expert_bank.table_layout import COLD, HOT, PLACE

LAYERS, EXPERTS, K, HOT_ROWS = 3, 16, 4, 5
CPU = torch.device("cpu")
SOURCE = torch.Generator().manual_seed(11)


def made() -> tuple[PickCounter, Table, LateSplit]:
    """A counter, a table with random maps, and what splits by them."""
    names = [f"layer {number}" for number in range(LAYERS)]
    counter = PickCounter(names, experts=EXPERTS, picks_per_token=K, device=CPU, banks=2)
    table = Table([HOT_ROWS] * LAYERS, EXPERTS, CPU)
    for layer in range(LAYERS):
        order = torch.randperm(EXPERTS, generator=SOURCE).tolist()
        banks = [HOT if each < HOT_ROWS else COLD for each in order]
        table.fill(layer, banks, order)
    return counter, table, LateSplit(counter, table)


def ids_of(rows: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(EXPERTS, (rows, K), generator=SOURCE).to(dtype)


def places_and_counts_are_the_ops() -> None:
    """Over steps of every shape; padding's ids among them, and -1 as vLLM marks it."""
    counter, table, splits = made()
    layers = [splits.of_layer(layer) for layer in range(LAYERS)]
    wanted = [torch.zeros_like(each) for each in counter.counts]
    for dtype in (torch.int32, torch.int64):
        for rows, tokens in ((1, 1), (2, 1), (8, 8), (65, 0), (65, 33), (200, 200)):
            for marked in (False, True):
                with counter.step(tokens):
                    for number, split in enumerate(layers):
                        ids = ids_of(rows, dtype)
                        if marked:
                            ids[tokens:] = -1
                        expected = split_reference(
                            wanted[number], ids, counter.scheduled, table.device[number]
                        )
                        found = split(ids)
                        assert found.equal(expected)
                        assert found.dtype is dtype
                        assert found.is_contiguous()
                splits.count()
                assert all(a.equal(b) for a, b in zip(counter.counts, wanted, strict=True))
    assert counter.by_bank().sum() == counter.tokens * K * LAYERS


def nothing_is_counted_outside_of_a_step() -> None:
    """Warm-up and self-checks map, too."""
    counter, _, splits = made()
    split = splits.of_layer(1)
    split(ids_of(8, torch.int32))
    with counter.step(2):
        split(ids_of(2, torch.int32))
    split(ids_of(8, torch.int32))
    splits.count()
    assert counter.by_bank().sum() == 2 * K


def picks_count_for_the_bank_that_served_them() -> None:
    """A swap between two steps moves no pick of the first."""
    counter, table, splits = made()
    split = splits.of_layer(0)
    expert = next(each for each in range(EXPERTS) if table.where(0, each)[0] == HOT)
    ids = torch.full((3, K), expert, dtype=torch.int32)
    with counter.step(3):
        split(ids.clone())
    table.point(0, expert, COLD, expert)
    with counter.step(3):
        split(ids.clone())
    assert counter.by_bank()[0, :, expert].tolist() == [3 * K, 3 * K]


def tokens_ids_that_are_no_expert_are_refused() -> None:
    """It raises, counts nothing of that layer, and the next step is counted as any other."""
    counter, _, splits = made()
    split = splits.of_layer(2)
    for stranger in (-1, EXPERTS, 2**31 - 1):
        ids = ids_of(2, torch.int32)
        ids[1, 0] = stranger
        try:
            with counter.step(2):
                split(ids)
        except IndexError:
            pass
        else:
            raise AssertionError(stranger)
    assert not counter.by_bank().any()
    with counter.step(2):
        split(ids_of(2, torch.int32))
    assert counter.by_bank().sum() == 2 * K


def cells_wrap_at_32_bits() -> None:
    """A cell that held all that it can, and the totals go on."""
    counter, table, splits = made()
    expert = 3
    bank, _ = table.where(0, expert)
    counter.counts[0][bank * EXPERTS + expert] = -1
    assert counter.by_bank()[0, bank, expert] == 2**32 - 1
    split = splits.of_layer(0)
    with counter.step(5):
        split(torch.full((5, K), expert, dtype=torch.int32))
    splits.count()
    assert counter.counts[0][bank * EXPERTS + expert] == 5 * K - 1
    assert counter.by_bank()[0, bank, expert] == 2**32 - 1 + 5 * K


def only_so_much_is_kept() -> None:
    """Nobody has to read the counts for the picks of long ago to be counted."""
    counter, _, splits = made()
    split = splits.of_layer(0)
    for _ in range(MOST // 8):
        assert not counter.counts[0].any()
        with counter.step(8):
            split(ids_of(8, torch.int32))
    assert counter.counts[0].sum() == MOST * K


def ids_that_are_overwritten_show() -> None:
    """A router that writes into one place each time would have others' ids counted."""
    two_bank = small([4, 3], "mirror", experts=EXPERTS).two_bank
    counter, table = two_bank.counter, two_bank.table
    splits = LateSplit(counter, table)
    layers = [splits.of_layer(layer) for layer in range(2)]
    used = ids_of(8, torch.int32)
    with counter.step(8):
        layers[0](used)
        layers[1](used.clone())
    assert counter.snapshot().sum() == 2 * used.numel()
    swapped = 0
    for number in range(200):
        with counter.step(8):
            layers[0](ids_of(8, torch.int32))
            used.copy_(ids_of(8, torch.int32))
            assert layers[1](used).equal(table.device[1][PLACE][used])
        assert len(splits._kept) < 2 * MOST // 8  # noqa: SLF001 - what must not grow
        if number % 50 == 49:
            is_hot = table.is_hot()[1]
            swap = Swap(1, int((~is_hot).argmax()), int(is_hot.argmax()))
            two_bank.barrier.swap([swap])
            swapped += 1
            assert (two_bank.barrier.totals.swaps, two_bank.barrier.totals.failed) == (swapped, 0)
    for _ in range(2):
        require_told(counter, "layers.1.experts", two_bank.told)


def reuse_behind_a_reading_harms_nothing() -> None:
    """The memory of ids that were counted is the router's again."""
    counter, _, splits = made()
    split = splits.of_layer(0)
    ids = ids_of(2, torch.int32)
    for number in range(5):
        with counter.step(2):
            split(ids)
        assert counter.snapshot().sum() == 2 * K * (number + 1)


def counts_that_are_not_exact_stay_so() -> None:
    """Neither a reading nor what is counted well behind it makes them exact again."""
    counter, _, splits = made()
    split = splits.of_layer(2)
    ids = ids_of(2, torch.int32)
    for _ in range(2):
        with counter.step(2):
            split(ids)
    require_told(counter, "layer 2")
    # A step that has to read before a cell goes once around does so, and is not told.
    counter.unread = WRAPS_AT - K
    for _ in range(MOST):
        with counter.step(2):
            split(ids_of(2, torch.int32))
    require_told(counter, "layer 2")


def ids_that_nobody_scheduled_overwrite_none() -> None:
    """A warm-up or a self-check between two steps, in the memory of what was scheduled."""
    counter, table, splits = made()
    split, other = splits.of_layer(0), splits.of_layer(1)
    ids = ids_of(2, torch.int32)
    with counter.step(2):
        other(ids_of(2, torch.int32))
        split(ids)
    split(ids.clone())
    assert not counter.inexact
    assert split(ids).equal(table.device[0][PLACE][ids])
    require_told(counter, "layer 0")


def require_told(counter: PickCounter, layer: str, *others: Callable[[], object]) -> None:
    """See that whoever reads is told which layer's ids were overwritten."""
    for read in (counter.by_bank, counter.snapshot, *others):
        told = raised(Refused, read)
        assert f"counts of picks are not exact: {layer}: {USED_AGAIN}" in told, told


CHECKS = (
    places_and_counts_are_the_ops,
    nothing_is_counted_outside_of_a_step,
    picks_count_for_the_bank_that_served_them,
    tokens_ids_that_are_no_expert_are_refused,
    cells_wrap_at_32_bits,
    only_so_much_is_kept,
    ids_that_are_overwritten_show,
    reuse_behind_a_reading_harms_nothing,
    counts_that_are_not_exact_stay_so,
    ids_that_nobody_scheduled_overwrite_none,
)


if __name__ == "__main__":
    tell(CHECKS)
