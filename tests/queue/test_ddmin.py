"""``ddmin``: what it finds is bad, cannot lose one item, and costs no set twice."""

import random
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from lanewright.queue.culprit.ddmin import ddmin

Some = tuple[int, ...]
WORST = 3


def asked(items: Some, is_bad: Callable[[Some], bool]) -> tuple[Some, list[Some]]:
    """What is found, and every set that was asked about."""
    seen: list[Some] = []

    def told(some: Some) -> bool:
        seen.append(some)
        return is_bad(some)

    return ddmin(items, told), seen


def require_minimal(items: Some, is_bad: Callable[[Some], bool]) -> tuple[Some, list[Some]]:
    """Find it, and hold it against what must be so whatever the command says."""
    found, seen = asked(items, is_bad)
    assert found == items or is_bad(found)
    assert all(not is_bad(found[:at] + found[at + 1 :]) for at in range(len(found)) if found[1:])
    assert list(found) == sorted(found)
    assert len(seen) == len(set(seen))
    assert items not in seen
    assert () not in seen
    assert len(seen) <= len(items) ** 2 + WORST * len(items)  # the paper's bound
    return found, seen


@given(st.integers(1, 24), st.data())
def test_what_only_together_is_bad_is_found_whole(size: int, data: st.DataObject) -> None:
    items = tuple(range(size))
    wanted = data.draw(st.sets(st.sampled_from(items), min_size=1))
    found, _ = require_minimal(items, lambda some: wanted <= set(some))
    assert set(found) == wanted


@given(st.integers(1, 9), st.randoms(use_true_random=False), st.floats(0, 1))
def test_whatever_is_bad_the_result_cannot_lose_one_item(
    size: int,
    chance: random.Random,
    share: float,
) -> None:
    items = tuple(range(size))
    verdicts: dict[Some, bool] = {items: True, (): False}

    def is_bad(some: Some) -> bool:
        return verdicts.setdefault(some, chance.random() < share)

    require_minimal(items, is_bad)


@given(st.integers(2, 12), st.data())
def test_one_of_two_causes_is_found(size: int, data: st.DataObject) -> None:
    items = tuple(range(size))
    pairs = st.sets(st.sampled_from(items), min_size=1, max_size=2)
    causes = data.draw(st.lists(pairs, min_size=2, max_size=2))
    found, _ = require_minimal(items, lambda some: any(cause <= set(some) for cause in causes))
    assert set(found) in causes


def test_one_of_many_is_found_by_halving() -> None:
    items = tuple(range(64))
    found, seen = require_minimal(items, lambda some: 41 in some)
    assert found == (41,)
    assert len(seen) <= 12


def test_a_single_item_is_asked_nothing() -> None:
    assert asked((7,), lambda _: False) == ((7,), [])
