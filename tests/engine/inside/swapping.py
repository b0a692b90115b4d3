"""Checks of swaps that go well: ``swapping.py RESULT``; needs torch, not vLLM."""

import random

import torch
from checks import tell
from small_banks import MODES, ROWS, WEIGHT, Small, picks, random_swap, small, summed

from expert_bank.row_sums import row_sums
from expert_bank.swapping import Rows, Swapped
from expert_bank.swaps import Swap

SWAPS = 200


def hot_of(made: Small, layer: int) -> set[int]:
    """Experts that are hot."""
    return set(made.two_bank.table.is_hot()[layer].nonzero()[0].tolist())


def every_row_is_as_loaded_after_each_swap() -> None:
    """Random maps and swaps of all kinds, both modes: rows, places, free and spare rows, guards."""
    for mode in MODES:
        done, draw = 0, random.Random(1)  # noqa: S311 - no secret
        for seed in range(SWAPS // 8):
            made = small([draw.randrange(10), draw.randrange(1, 9)], mode, seed=seed)
            made.require_whole()
            for _ in range(8):
                swap = random_swap(draw, made)
                if swap is None:
                    continue
                before = hot_of(made, swap.layer)
                swapped = made.two_bank.swapper.swap(swap)
                assert not swapped.failure, swapped
                assert hot_of(made, swap.layer) == before - {swap.demote} | {swap.promote} - {None}
                made.require_whole()
                done += 1
        assert done > SWAPS * 3 // 4


def the_first_forward_after_each_swap_is_the_resident_layers() -> None:
    """Bit for bit, while picks are counted by where they were served from."""
    for mode in MODES:
        made, draw = small([4, 6], mode, seed=7), random.Random(7)  # noqa: S311 - no secret
        for step in range(SWAPS // 2):
            swap = random_swap(draw, made)
            if swap is not None:
                made.two_bank.barrier.swap([swap])
            for layer in (0, 1):
                ids = picks(step, 5)
                assert made.forward(ids, layer).equal(made.resident(ids, layer))


def two_partial_sums_hang_on_the_map() -> None:
    """The negative control: a sum of each bank, added, is another number for another map."""
    banks = small([4], "mirror", first=[[0, 1, 2, 3]])
    ids = picks(1, 400)
    answers = []
    for swap in (None, Swap(0, 5, 0), Swap(0, 7, 2)):
        if swap is not None:
            banks.two_bank.barrier.swap([swap])
        hot = torch.from_numpy(banks.two_bank.table.is_hot()[0])[ids.long()]
        rows = banks.loaded[0][WEIGHT][ids.long()]
        parts = [summed(rows * mask[..., None]) for mask in (hot, ~hot)]
        answers.append(parts[0] + parts[1])
        assert banks.forward(ids).equal(banks.resident(ids))
    assert not answers[0].equal(answers[1])
    assert not answers[0].equal(answers[2])
    assert answers[0].allclose(banks.resident(ids))


def a_swap_tells_what_it_moved() -> None:
    """A mirror's demotion moves nothing; an exclusive one moves a row each way."""
    for mode, rows in zip(MODES, ((1, 1, 0), (2, 1, 1)), strict=True):
        made = small([2], mode, first=[[0, 1]])
        swapper = made.two_bank.swapper
        size = swapper.banks[0].row_bytes
        pair, demoted, filled = Swap(0, 5, 0), Swap(0, None, 1), Swap(0, 6, None)
        assert swapper.swap(pair) == Swapped(pair, rows[0] * size)
        assert swapper.swap(demoted) == Swapped(demoted, rows[2] * size)
        assert swapper.swap(filled) == Swapped(filled, rows[1] * size)
        assert hot_of(made, 0) == {5, 6}


def a_mirrors_demotion_points_back_to_the_experts_own_row() -> None:
    """Row e, for ever."""
    made = small([2], "mirror", first=[[3, 8]])
    made.two_bank.swapper.swap(Swap(0, 0, 8))
    assert made.two_bank.table.where(0, 8) == (1, 8)


def exclusive_banks_are_never_without_a_whole_row() -> None:
    """Looked at before and after every copy of every row tensor."""
    made, draw = small([3], "exclusive", seed=5), random.Random(5)  # noqa: S311 - no secret
    looked = []

    def copy(to: Rows, source: Rows) -> None:
        for ours, theirs in zip(to, source, strict=True):
            assert not made.wrong()
            ours.copy_(theirs)
            looked.append(made.wrong())

    made.two_bank.swapper.copy = copy
    for _ in range(20):
        swap = random_swap(draw, made)
        assert swap is not None
        assert not made.two_bank.swapper.swap(swap).failure
    assert len(looked) >= 20 * len(ROWS)
    assert not any(looked)


def what_is_used_up_comes_back() -> None:
    """Where the only unused row is a hot one, the promotion makes room for the demotion."""
    made = small([2], "exclusive", first=[[0, 1]])
    swapper = made.two_bank.swapper
    assert not swapper.swap(Swap(0, None, 0)).failure
    assert (len(swapper.free[0]), swapper.spare[0]) == (1, [])
    assert not swapper.swap(Swap(0, 4, 1)).failure
    assert hot_of(made, 0) == {4}
    made.require_whole()
    assert not swapper.swap(Swap(0, 1, None)).failure
    assert (swapper.free[0], len(swapper.spare[0])) == ([], 1)
    made.require_whole()


def a_row_that_nobody_has_is_asked_for_in_vain() -> None:
    """No free hot row, no spare cold one: said by layer and expert, and nothing is moved."""
    made = small([2, 9], "exclusive", first=[[0, 1], list(range(9))])
    swapper = made.two_bank.swapper
    full, again, all_hot = Swap(0, 4, None), Swap(0, None, 1), Swap(1, None, 3)
    told = "layers.0.experts has no free hot row for expert 4"
    assert swapper.swap(full) == Swapped(full, 0, told)
    swapper.swap(Swap(0, None, 0))
    told = "layers.0.experts has no spare cold row for expert 1"
    assert swapper.swap(again) == Swapped(again, 0, told)
    told = "layers.1.experts has no spare cold row for expert 3"
    assert swapper.swap(all_hot) == Swapped(all_hot, 0, told)
    made.require_whole()


def a_row_is_verified_against_what_was_loaded() -> None:
    """Not against where it was copied from."""
    made = small([2], "exclusive", first=[[0, 1]])
    swapper = made.two_bank.swapper
    _, row = made.two_bank.table.where(0, 5)
    spoilt = swapper.banks[0].row(1, row)[0]
    before = int(row_sums(spoilt[None])[0])
    spoilt.view(torch.uint8)[0, 0] ^= 1
    assert int(row_sums(spoilt[None])[0]) != before
    failure = swapper.swap(Swap(0, 5, 0)).failure
    assert failure == ("layers.0.experts, expert 5: hot row 0 of w13_weight is not what was loaded")


CHECKS = (
    every_row_is_as_loaded_after_each_swap,
    the_first_forward_after_each_swap_is_the_resident_layers,
    two_partial_sums_hang_on_the_map,
    a_swap_tells_what_it_moved,
    a_mirrors_demotion_points_back_to_the_experts_own_row,
    exclusive_banks_are_never_without_a_whole_row,
    what_is_used_up_comes_back,
    a_row_that_nobody_has_is_asked_for_in_vain,
    a_row_is_verified_against_what_was_loaded,
)


if __name__ == "__main__":
    tell(CHECKS)
