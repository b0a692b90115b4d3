"""Checks of the audit of two banks: ``audit.py RESULT``; needs torch, not vLLM."""

import random
from itertools import combinations

import torch
from checks import tell
from small_banks import MODES, ROWS, Small, bytes_of, random_swap, small

from expert_bank.swaps import Swap
from expert_bank.table_layout import COLD, HOT

NAMES = ", ".join(ROWS)


def rows_of(banks: Small, layer: int, expert: int) -> list[torch.Tensor]:
    """The rows that an expert is served from."""
    two_bank = banks.two_bank
    return two_bank.swapper.banks[layer].row(*two_bank.table.where(layer, expert))


def told(banks: Small, layer: int, expert: int, tensors: str) -> str:
    """What is said of a row that is not what was loaded."""
    bank, row = banks.two_bank.table.where(layer, expert)
    side = "cold" if bank == COLD else "hot"
    return (
        f"layers.{layer}.experts, expert {expert}: {side} row {row} of {tensors}"
        " is not what was loaded"
    )


def made() -> list[Small]:
    """Both modes, with and without poison, after some swaps."""
    found = []
    for mode in MODES:
        for poison in (False, True):
            banks, draw = small([4, 2], mode, seed=8, poison=poison), random.Random(8)  # noqa: S311 - no secret
            for _ in range(6):
                swap = random_swap(draw, banks)
                assert swap is not None
                assert not banks.two_bank.swapper.swap(swap).failure
            found.append(banks)
    return found


def what_is_right_is_not_told() -> None:
    """Rows in any place."""
    assert all(banks.two_bank.audit() == [] for banks in made())


def an_exchanged_pair_of_rows_is_named() -> None:
    """Both experts, by layer, with every tensor; hot with hot, hot with cold, cold with cold."""
    for banks in made():
        hot = banks.two_bank.table.is_hot()[0]
        assert hot.sum() > 1
        for pair in combinations(range(banks.experts), 2):
            exchange(banks, *pair)
            assert banks.two_bank.audit() == [told(banks, 0, expert, NAMES) for expert in pair]
            assert len(banks.wrong()) == 2 * len(ROWS)
            exchange(banks, *pair)
        assert banks.two_bank.audit() == []


def exchange(banks: Small, one: int, other: int) -> None:
    """Exchange two experts' rows in layer 0."""
    for ours, theirs in zip(rows_of(banks, 0, one), rows_of(banks, 0, other), strict=True):
        kept = ours.clone()
        ours.copy_(theirs)
        theirs.copy_(kept)


def one_moved_scale_row_is_named() -> None:
    """By layer, expert and tensor; the weights stay where they are."""
    scale = list(ROWS).index("w13_weight_scale")
    for banks in made():
        rows_of(banks, 0, 7)[scale].copy_(rows_of(banks, 0, 2)[scale])
        assert banks.two_bank.audit() == [told(banks, 0, 7, "w13_weight_scale")]


def one_changed_bit_of_any_tensor_is_named() -> None:
    """Of every expert, in every layer."""
    for banks in made():
        for layer in (0, 1):
            for expert in range(banks.experts):
                for name, row in zip(ROWS, rows_of(banks, layer, expert), strict=True):
                    bytes_of(row)[-1] ^= 0x10
                    assert banks.two_bank.audit() == [told(banks, layer, expert, name)]
                    bytes_of(row)[-1] ^= 0x10


def a_devices_other_table_is_named() -> None:
    """By layer and expert, beside rows that are as they were loaded."""
    for banks in made():
        table = banks.two_bank.table.device[1]
        kept = table[:, 3].clone()
        table[:, 3] = table[:, 5]
        assert banks.two_bank.audit() == [
            "layers.1.experts, expert 3: the device's table has it elsewhere than the host's"
        ]
        table[:, 3] = kept
        assert banks.two_bank.audit() == []


def two_experts_of_one_place_are_named() -> None:
    """A table that host and device agree on, and that is wrong."""
    banks = small([3], "mirror", first=[[0, 1, 2]])
    banks.two_bank.table.point(0, 1, HOT, 2)
    assert banks.two_bank.audit() == [told(banks, 0, 1, NAMES)]


def a_reload_into_the_first_places_is_named() -> None:
    """Weights that are loaded again as at boot, after a swap: every expert that moved since."""
    for mode in MODES:
        banks = small([2], mode, first=[[0, 1]])
        where = [banks.two_bank.table.where(0, expert) for expert in range(banks.experts)]
        swapper = banks.two_bank.swapper
        assert not swapper.swap(Swap(0, 5, 0)).failure
        for expert, place in enumerate(where):
            for row, loaded in zip(swapper.banks[0].row(*place), banks.loaded[0], strict=True):
                row.copy_(loaded[expert])
        found = banks.two_bank.audit()
        assert told(banks, 0, 5, NAMES) in found
        assert len(found) == len({expert for _, expert, _ in banks.wrong()}) > 0


CHECKS = (
    what_is_right_is_not_told,
    an_exchanged_pair_of_rows_is_named,
    one_moved_scale_row_is_named,
    one_changed_bit_of_any_tensor_is_named,
    a_devices_other_table_is_named,
    two_experts_of_one_place_are_named,
    a_reload_into_the_first_places_is_named,
)


if __name__ == "__main__":
    tell(CHECKS)
