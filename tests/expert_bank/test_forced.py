"""Swaps that are made whatever a policy would say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.forced import Forced
from expert_bank.swaps import Swap, require_sound

States = list[np.ndarray]


def state(*layers: str) -> States:
    """Which experts are hot, from ``1`` and ``0``."""
    return [np.array([mark == "1" for mark in layer], bool) for layer in layers]


def applied(swaps: list[Swap], hot: States) -> States:
    after = [layer.copy() for layer in hot]
    for swap in swaps:
        if swap.promote is not None:
            after[swap.layer][swap.promote] = True
        if swap.demote is not None:
            after[swap.layer][swap.demote] = False
    return after


states = st.lists(st.lists(st.booleans(), min_size=1, max_size=20), min_size=1, max_size=5).map(
    lambda layers: [np.array(layer, bool) for layer in layers]
)


@given(states, st.integers(1, 6), st.integers(0, 2**70), st.integers(1, 2**40))
def test_no_hot_one_is_promoted_and_no_cold_one_demoted(
    hot: States, pairs: int, seed: int, forward: int
) -> None:
    before = [layer.copy() for layer in hot]
    swaps = Forced(every=1, pairs_per_layer=pairs, seed=seed).at(forward, hot)
    require_sound(swaps, hot)
    for layer, (was, now, after) in enumerate(zip(before, hot, applied(swaps, hot), strict=True)):
        made = sum(swap.layer == layer for swap in swaps)
        assert made == min(pairs, was.sum(), (~was).sum())
        assert after.sum() == was.sum()
        assert (after != was).sum() == 2 * made
        assert (now == was).all()


@given(states, st.integers(1, 6), st.integers(0, 99), st.data())
def test_free_rows_are_filled_first(
    hot: States, pairs: int, seed: int, data: st.DataObject
) -> None:
    rows = [data.draw(st.integers(int(layer.sum()), len(layer))) for layer in hot]
    swaps = Forced(every=1, pairs_per_layer=pairs, seed=seed).at(1, hot, rows=rows)
    require_sound(swaps, hot)
    after = applied(swaps, hot)
    for layer, room in enumerate(rows):
        free = room - int(hot[layer].sum())
        mine = [swap for swap in swaps if swap.layer == layer]
        fills = [swap for swap in mine if swap.demote is None]
        assert fills == mine[: min(free, pairs)]
        assert len(fills) == min(free, pairs)
        assert after[layer].sum() == hot[layer].sum() + len(fills) <= room


def test_an_empty_bank_fills_and_then_turns_over() -> None:
    hot, forced = state("0000", "0000"), Forced(every=1, pairs_per_layer=1, seed=3)
    filled = []
    for forward in range(1, 6):
        hot = applied(forced.at(forward, hot, rows=[2, 3]), hot)
        filled.append([int(layer.sum()) for layer in hot])
    assert filled == [[1, 1], [2, 2], [2, 3], [2, 3], [2, 3]]


def test_only_every_nth_forward_gets_swaps() -> None:
    forced = Forced(every=3, pairs_per_layer=1, seed=0)
    due = [forward for forward in range(-3, 10) if forced.at(forward, state("10"))]
    assert due == [3, 6, 9]


def test_a_draw_hangs_on_seed_forward_and_state_alone() -> None:
    hot = state("1" * 8 + "0" * 24, "01" * 16)
    forced = Forced(every=1, pairs_per_layer=2, seed=7)
    first = [forced.at(forward, hot) for forward in range(1, 9)]
    again = [Forced(every=1, pairs_per_layer=2, seed=7).at(forward, hot) for forward in (5, 2)]
    assert again == [first[4], first[1]]
    assert len({tuple(swaps) for swaps in first}) == len(first)
    assert Forced(every=1, pairs_per_layer=2, seed=8).at(1, hot) != first[0]


def test_the_draw_is_the_same_with_every_numpy() -> None:
    hot = state("1" * 4 + "0" * 12, "01" * 8)
    swaps = Forced(every=2, pairs_per_layer=2, seed=20261130).at(4, hot)
    assert swaps == [Swap(0, 10, 0), Swap(0, 13, 2), Swap(1, 12, 11), Swap(1, 2, 7)]


def test_every_expert_gets_its_turn() -> None:
    hot = state("1100000000000000")
    forced = Forced(every=1, pairs_per_layer=1, seed=1)
    seen: set[int] = set()
    for forward in range(1, 400):
        swaps = forced.at(forward, hot)
        seen.update(swap.promote for swap in swaps if swap.promote is not None)
        hot = applied(swaps, hot)
    assert seen == set(range(16))


@pytest.mark.parametrize(("every", "pairs", "seed"), [(0, 1, 0), (-1, 1, 0), (1, 0, 0), (1, 1, -1)])
def test_what_would_never_swap_is_a_mistake(every: int, pairs: int, seed: int) -> None:
    with pytest.raises(ValueError, match="makes no swap, or has a seed below 0"):
        Forced(every=every, pairs_per_layer=pairs, seed=seed)


@pytest.mark.parametrize(
    "asked",
    [
        (1, 1.5, 0),
        (1, 1, 1.5),
        (1.5, 1, 0),
        (float("nan"), 1, 0),
        (1, float("nan"), 0),
        ("1", 1, 0),
    ],
)
def test_what_is_no_whole_number_is_refused_before_any_forward(
    asked: tuple[object, object, object],
) -> None:
    with pytest.raises(ValueError, match="is not of whole numbers"):
        Forced(*asked)  # type: ignore[arg-type]  # what JSON may hold


@pytest.mark.parametrize("rows", [[0, 1], [1]])
def test_more_hot_experts_than_rows_is_a_mistake(rows: list[int]) -> None:
    with pytest.raises(ValueError, match=r"experts are hot|zip"):
        Forced(every=1, pairs_per_layer=1, seed=0).at(1, state("10", "01"), rows=rows)
