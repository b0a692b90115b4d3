"""Which lists of swaps a table's state allows."""

import re

import numpy as np
import pytest

from expert_bank.refused import Refused
from expert_bank.swaps import Swap, read_swaps, require_sound

HOT = [np.array([True, True, False, False]), np.array([False, True])]


@pytest.mark.parametrize(
    "swaps",
    [
        [],
        [Swap(0, 2, 0)],
        [Swap(0, 2, 0), Swap(0, 3, 1), Swap(1, 0, 1)],
        [Swap(0, 2, None), Swap(0, None, 1)],
    ],
)
def test_sound_swaps_pass(swaps: list[Swap]) -> None:
    require_sound(swaps, HOT)


@pytest.mark.parametrize(
    ("swaps", "why"),
    [
        ([Swap(0, 1, 0)], "demote=0): expert 1 is hot already"),
        ([Swap(0, 2, 3)], "demote=3): expert 3 is cold already"),
        ([Swap(0, 2, 2)], "expert 2 is in another swap"),
        ([Swap(0, 2, 0), Swap(0, 2, 1)], "expert 2 is in another swap"),
        ([Swap(0, 2, 0), Swap(0, 3, 0)], "expert 0 is in another swap"),
        ([Swap(0, 2, None), Swap(0, None, 2)], "expert 2 is in another swap"),
        ([Swap(2, 0, 1)], "there are 2 layers"),
        ([Swap(-1, 0, 1)], "there are 2 layers"),
        ([Swap(1, 2, 1)], "the layer has 2 experts"),
        ([Swap(1, 0, -1)], "the layer has 2 experts"),
    ],
)
def test_what_the_table_contradicts_is_refused(swaps: list[Swap], why: str) -> None:
    with pytest.raises(Refused) as refused:
        require_sound(swaps, HOT)
    assert str(refused.value).startswith("Swap(layer=")
    assert why in str(refused.value)


def test_a_swap_of_nothing_is_none() -> None:
    with pytest.raises(ValueError, match="neither promotes nor demotes"):
        Swap(0, None, None)


def test_swaps_from_outside_are_read() -> None:
    told = [[0, 2, 0], (1, None, 1), [0, 3, None]]
    assert read_swaps(told) == [Swap(0, 2, 0), Swap(1, None, 1), Swap(0, 3, None)]
    assert read_swaps([]) == []


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (None, "swaps are a list"),
        ({"0": [0, 1, 2]}, "swaps are a list"),
        ("012", "swaps are a list"),
        ([None], "a swap is [layer, promote, demote]"),
        (["012"], "a swap is [layer, promote, demote]"),
        ([[0, 1]], "a swap is [layer, promote, demote]"),
        ([[0, 1, 2, 3]], "a swap is [layer, promote, demote]"),
        ([[True, 2, 0]], "of whole numbers"),
        ([[0, 2.0, 0]], "of whole numbers"),
        ([[0, "2", 0]], "of whole numbers"),
        ([[None, 2, 0]], "of whole numbers"),
        ([[0, 2, [0]]], "of whole numbers"),
        ([[0, None, None]], "neither promotes nor demotes"),
    ],
)
def test_what_is_no_list_of_swaps_is_refused(told: object, why: str) -> None:
    with pytest.raises(Refused, match=re.escape(why)):
        read_swaps(told)
