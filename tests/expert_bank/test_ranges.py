"""Ranges without others, byte by byte."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from expert_bank.ranges import Range, without

MOST = 60


@st.composite
def apart(draw: st.DrawFn) -> list[Range]:
    """Ranges that do not overlap, some of which touch or are empty, in any order."""
    steps = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=6))
    ends = list(accumulate(each for pair in steps for each in pair))
    found = [Range(*pair) for pair in zip(ends[::2], ends[1::2], strict=True)]
    return draw(st.permutations(found))


def anywhere() -> st.SearchStrategy[list[Range]]:
    """Ranges that may overlap."""
    places = st.integers(0, MOST)
    one = st.tuples(places, places).map(lambda each: Range(min(each), max(each)))
    return st.lists(one, max_size=8)


def addresses(ranges: Sequence[Range]) -> set[int]:
    return {address for each in ranges for address in range(each.start, each.end)}


@given(apart(), anywhere())
def test_what_is_left_is_what_no_hole_has(whole: list[Range], holes: list[Range]) -> None:
    left = without(whole, holes)
    assert addresses(left) == addresses(whole) - addresses(holes)
    assert all(each.length > 0 for each in left)
    assert all(one.end <= other.start for one, other in pairwise(left))
    assert all(any(w.start <= each.start and each.end <= w.end for w in whole) for each in left)


def test_a_hole_in_the_midst_leaves_both_sides() -> None:
    assert without([Range(10, 20)], [Range(13, 15)]) == [Range(10, 13), Range(15, 20)]
    assert without([Range(10, 20)], [Range(5, 25)]) == []
    assert without([Range(10, 20), Range(20, 30)], []) == [Range(10, 20), Range(20, 30)]
