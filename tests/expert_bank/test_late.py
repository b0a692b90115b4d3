"""Cold picks under three maps, in numbers that can be worked out by hand."""

import numpy as np
import pytest

from expert_bank.late import Late
from expert_bank.weighing import Weights

BOOT = np.array([[True, True, False, False], [False, False, True, False]])
ROWS = np.array([2, 1])
NOTHING = np.zeros((2, 4))
WHOLE = Weights(1, 1)


def test_before_the_first_pick_there_is_no_share() -> None:
    late = Late(BOOT, ROWS)
    nothing = {"late": None, "boot": None, "oracle": None}
    assert late.shares() == {**nothing, "null": None}
    assert late.by_layer() == [nothing, nothing]


def test_each_map_is_held_against_the_same_picks() -> None:
    late = Late(BOOT, ROWS)
    scores = np.array([[1, 5, 0, 9], [3, 0, 0, 2.0]])
    hot = np.array([[True, False, True, False], [True, False, False, False]])
    late.take(np.array([[1, 2, 3, 4], [0, 0, 0, 10]]), hot, scores, WHOLE)
    assert late.cold.tolist() == [[6, 10], [7, 10], [4, 10]]
    assert late.by_layer() == [
        {"late": 0.6, "boot": 0.7, "oracle": 0.4},
        {"late": 1.0, "boot": 1.0, "oracle": 1.0},
    ]
    assert late.shares() == {"late": 0.8, "boot": 0.85, "oracle": 0.7, "null": 1 - 1.5 / 4}


def test_earlier_picks_count_less_of_late_and_the_same_so_far() -> None:
    late = Late(BOOT, ROWS)
    picks = np.array([[8, 0, 0, 0], [8, 0, 0, 0]])
    late.take(picks, BOOT, NOTHING, WHOLE)
    late.take(picks[:, ::-1], BOOT, NOTHING, Weights(0.25, 0.5))
    assert late.cold[0].tolist() == [8, 16]
    # 8 x 0.25 were hot, and 8 x 0.5 cold.
    assert late.by_layer()[0]["late"] == pytest.approx(4 / 6)
    assert late.shares()["late"] == pytest.approx(10 / 12)


def test_the_oracle_map_has_the_highest_scores_and_of_equals_those_of_the_boot_map() -> None:
    late = Late(BOOT, ROWS)
    assert (late.oracle(NOTHING) == BOOT).all()
    found = late.oracle(np.array([[3, 0, 0, 0], [4, 4, 0, 4.0]]))
    assert found.tolist() == [[True, True, False, False], [True, False, False, False]]
    found = late.oracle(np.array([[1, 2, 3, 3], [0, 0, 1, 2.0]]))
    assert found.tolist() == [[False, False, True, True], [False, False, False, True]]


def test_an_oracle_map_fills_rows_that_the_boot_map_left_free() -> None:
    late = Late(BOOT, np.array([3, 4]))
    assert late.oracle(NOTHING).sum(axis=1).tolist() == [3, 4]
