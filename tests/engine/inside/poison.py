"""Checks of rows that are NaN while nobody is served from them: ``poison.py RESULT``; needs torch."""

import random
from collections.abc import Iterator

import torch
from checks import tell
from small_banks import MODES, WEIGHT, Small, bytes_of, picks, random_swap, same, small

from expert_bank.poison import NAN
from expert_bank.swaps import Swap
from expert_bank.table_layout import BANK, COLD, PLACE


def made() -> Iterator[Small]:
    """Both modes, with free rows and without."""
    for mode in MODES:
        yield small([4, 2], mode, seed=4, poison=True)
    yield small([4, 2], "mirror", first=[[5], []], poison=True)
    yield small([0, 9], "mirror", poison=True)


def poison_is_nan_in_every_float() -> None:
    """Of every format that a weight, a scale or a bias has."""
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float16", "bfloat16"):
        dtype = getattr(torch, name)
        poisoned = torch.full((dtype.itemsize,), NAN, dtype=torch.uint8).view(dtype)
        assert poisoned.float().isnan().all(), name
    for dtype in (torch.float32, torch.float64):
        assert torch.full((8,), NAN, dtype=torch.uint8).view(dtype).isnan().all()


def rows_are_poisoned_exactly_while_nobody_reads_them() -> None:
    """At first and through random swaps; forwards are the resident layer's."""
    for banks in made():
        banks.require_poisoned()
        draw = random.Random(4)  # noqa: S311 - no secret
        for step in range(40):
            swap = random_swap(draw, banks)
            if swap is None:
                continue
            assert not banks.two_bank.swapper.swap(swap).failure
            banks.require_poisoned()
            ids = picks(step, 6)
            for layer in (0, 1):
                assert banks.forward(ids, layer).equal(banks.resident(ids, layer))


def a_demotion_restores_the_mirror() -> None:
    """The expert's mirror row is NaN while it is hot, and as it was loaded behind that."""
    banks = small([2], "mirror", first=[[3, 8]], poison=True)
    (bank,) = banks.two_bank.swapper.banks
    assert all(bytes_of(each).eq(NAN).all() for each in bank.row(COLD, 8))
    banks.two_bank.swapper.swap(Swap(0, None, 8))
    for row, loaded in zip(bank.row(COLD, 8), banks.loaded[0], strict=True):
        assert same(row, loaded[8])


def a_read_of_the_other_bank_shows() -> None:
    """Each hot expert of a mirror, read from its mirror row; the others' answers stay."""
    banks = small([3], "mirror", first=[[1, 4, 6]], poison=True)
    table = banks.two_bank.table.device[0]
    ids = torch.tensor([[0, 2, 3], [1, 2, 3], [5, 4, 7], [8, 7, 6]], dtype=torch.int32)
    for number, expert in enumerate((1, 4, 6), 1):
        before = table.clone()
        table[BANK, expert], table[PLACE, expert] = COLD, 3 + expert
        answer = banks.forward(ids)
        table.copy_(before)
        assert answer.isnan().nonzero().flatten().tolist() == [number]
        right = torch.arange(4) != number
        assert answer[right].equal(banks.resident(ids)[right])
    assert banks.forward(ids).equal(banks.resident(ids))


def a_read_of_a_row_that_was_left_shows() -> None:
    """The table as it was before a swap, in both modes: each expert that moved is NaN, or another."""
    for mode in MODES:
        banks = small([3], mode, first=[[1, 4, 6]], poison=True)
        stale = banks.two_bank.table.device[0].clone()
        assert not banks.two_bank.swapper.swap(Swap(0, 2, 4)).failure
        ids = torch.tensor([[0, 3, 2], [1, 3, 5], [6, 4, 7]], dtype=torch.int32)
        answer = banks.served(stale[PLACE][ids.long()], 0)
        assert answer[0].isnan()
        assert answer[1].equal(banks.resident(ids)[1])
        assert not answer[2].equal(banks.resident(ids)[2])
        assert banks.forward(ids).equal(banks.resident(ids))


def without_poison_a_wrong_bank_would_not_show() -> None:
    """The negative control: a mirror's other copy is the same bytes."""
    banks = small([3], "mirror", first=[[1, 4, 6]])
    table = banks.two_bank.table.device[0]
    table[BANK, 4], table[PLACE, 4] = COLD, 3 + 4
    ids = torch.tensor([[5, 4, 7]], dtype=torch.int32)
    assert banks.forward(ids).equal(banks.resident(ids))


def poison_keeps_its_copies_apart() -> None:
    """What is poisoned is not what rows are restored from."""
    banks = small([3], "mirror", first=[[1, 4, 6]], poison=True)
    for tensor in banks.two_bank.swapper.banks[0].tensors:
        tensor.cold.view(torch.uint8).fill_(NAN) if tensor.cold.dim() > 1 else tensor.cold.fill_(0)
    for expert in (1, 4, 6):
        banks.two_bank.swapper.swap(Swap(0, None, expert))
    ids = torch.tensor([[1, 4, 6]], dtype=torch.int32)
    assert banks.forward(ids).equal(banks.resident(ids))
    assert not banks.resident(ids).isnan().any()
    rows = banks.two_bank.swapper.banks[0].tensors[WEIGHT]
    assert rows.cold[0].isnan().all()


CHECKS = (
    poison_is_nan_in_every_float,
    rows_are_poisoned_exactly_while_nobody_reads_them,
    a_demotion_restores_the_mirror,
    a_read_of_the_other_bank_shows,
    a_read_of_a_row_that_was_left_shows,
    without_poison_a_wrong_bank_would_not_show,
    poison_keeps_its_copies_apart,
)


if __name__ == "__main__":
    tell(CHECKS)
