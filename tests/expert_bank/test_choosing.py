"""Swaps of one layer that are worth it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.choosing import better, towards
from expert_bank.pace import Pace
from expert_bank.swaps import Swap

PACE = Pace(ratio=1.25, margin=4.0, noise=0)
ALL = np.ones(6, np.bool_)
layers = st.integers(1, 12).flatmap(
    lambda experts: st.tuples(
        st.lists(st.integers(0, 1000), min_size=experts, max_size=experts),
        st.lists(st.booleans(), min_size=experts, max_size=experts),
        st.lists(st.booleans(), min_size=experts, max_size=experts),
        st.integers(0, 4),
    )
)


def hot(*experts: int) -> np.ndarray:
    state = np.zeros(6, np.bool_)
    state[list(experts)] = True
    return state


def found(
    scores: list[float],
    state: np.ndarray,
    room: int = 0,
    pace: Pace = PACE,
    spread: float = 1.0,
) -> list[Swap]:
    return [swap for _, swap in better(3, np.array(scores), spread, state, ALL, room, pace)]


def test_the_most_picked_cold_one_takes_the_place_of_the_least_picked_hot_one() -> None:
    assert found([9, 100, 50, 80, 5, 60], hot(0, 2, 4)) == [Swap(3, 1, 4), Swap(3, 3, 0)]


def test_of_equals_the_lower_id_goes_first() -> None:
    assert found([1, 1, 1, 90, 90, 90], hot(0, 1, 2))[0] == Swap(3, 3, 0)


def test_both_the_ratio_and_the_margin_must_be_passed() -> None:
    # 1.25 x 40 + 4 = 54.
    assert found([40, 54, 0, 0, 0, 0], hot(0)) == []
    assert found([40, 54.01, 0, 0, 0, 0], hot(0)) == [Swap(3, 1, 0)]


def test_what_may_be_chance_is_left_alone() -> None:
    noisy = Pace(ratio=1, margin=0, noise=3.0)
    # 100 against 64: 36 apart, and three times the root of 164 is 38.4.
    assert found([64, 100, 0, 0, 0, 0], hot(0), pace=noisy) == []
    assert found([64, 105, 0, 0, 0, 0], hot(0), pace=noisy) == [Swap(3, 1, 0)]
    # Of weighed picks that have half that variance, 26.4 is enough.
    assert found([64, 90, 0, 0, 0, 0], hot(0), pace=noisy, spread=0.5) == []
    assert found([64, 91, 0, 0, 0, 0], hot(0), pace=noisy, spread=0.5) == [Swap(3, 1, 0)]


def test_a_free_row_takes_what_is_above_the_margin_and_nobodys_place() -> None:
    assert found([4, 5, 6, 0, 0, 0], hot(3), room=3) == [Swap(3, 2, None), Swap(3, 1, None)]


def test_an_expert_that_must_stay_is_neither_promoted_nor_demoted() -> None:
    movable = ~hot(1, 4)
    swaps = [
        s
        for _, s in better(0, np.array([9, 99, 50, 80, 5, 60.0]), 1, hot(0, 2, 4), movable, 0, PACE)
    ]
    assert swaps == [Swap(0, 3, 0), Swap(0, 5, 2)][: len(swaps)]
    assert swaps[0] == Swap(0, 3, 0)


@given(layers)
def test_swaps_are_sound_and_save_what_they_say(
    layer: tuple[list[int], list[bool], list[bool], int],
) -> None:
    scores, state, movable, room = (np.array(layer[0], float), *map(np.array, layer[1:3]), layer[3])
    taken: list[int] = []
    for saved, swap in better(0, scores, 1.0, state, movable, room, PACE):
        assert swap.promote is not None
        assert not state[swap.promote]
        assert movable[swap.promote]
        taken.append(swap.promote)
        lost = 0.0
        if swap.demote is not None:
            assert state[swap.demote]
            assert movable[swap.demote]
            taken.append(swap.demote)
            lost = scores[swap.demote]
        assert saved == scores[swap.promote] - lost > PACE.margin
    assert len(set(taken)) == len(taken)


@given(layers)
def test_another_map_is_reached_by_the_fewest_swaps(
    layer: tuple[list[int], list[bool], list[bool], int],
) -> None:
    scores, state, target = (np.array(layer[0], float), *map(np.array, layer[1:3]))
    now = state.copy()
    swaps = [swap for _, swap in towards(0, scores, state, target)]
    most = max(now.sum(), target.sum())
    for swap in swaps:
        for expert, to in ((swap.demote, False), (swap.promote, True)):
            if expert is not None:
                assert now[expert] != to
                now[expert] = to
        assert now.sum() <= most
    assert (now == target).all()
    assert len(swaps) == max((target & ~state).sum(), (state & ~target).sum())
