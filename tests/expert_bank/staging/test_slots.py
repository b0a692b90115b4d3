"""Which slots of the staging buffer are whose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.staging.slots import Slots

LAYERS = st.lists(st.integers(0, 12), min_size=1, max_size=8)


@given(LAYERS, st.integers(0, 30), st.integers(1, 14))
def test_each_layer_has_its_slots_together_and_within_the_buffer(
    sizes: list[int], more: int, part: int
) -> None:
    rows = max(sizes) + more
    slots = Slots(sizes, rows, part)
    assert slots.layers == tuple(layer for layer, size in enumerate(sizes) if size)
    for layer in slots.layers:
        whole = slots.whole(layer)
        assert whole.count == sizes[layer]
        assert 0 <= whole.first <= rows - whole.count
        parts = [*slots.parts(layer, whole.count)]
        assert all(1 <= each.count <= part for each in parts)
        taken = [slot for each in parts for slot in range(each.first, each.first + each.count)]
        assert taken == [*range(whole.first, whole.first + whole.count)]
        asked = [row for each in parts for row in range(each.rows, each.rows + each.count)]
        assert asked == [*range(whole.count)]


@given(LAYERS, st.integers(1, 14))
def test_with_room_for_two_no_layer_meets_the_next(sizes: list[int], part: int) -> None:
    slots = Slots(sizes, 2 * max(sizes), part)
    for layer in slots.layers:
        following = slots.after(layer)
        if following is not None:
            assert following > layer
            assert not slots.whole(layer).meets(slots.whole(following))
        else:
            assert layer == slots.layers[-1]


def test_with_less_room_they_meet_in_as_few_as_can_be() -> None:
    slots = Slots([3, 4], 5, 1)
    assert (slots.whole(0).first, slots.whole(1).first) == (0, 1)
    # Those behind the first layer's three are free while it is read.
    assert [part.meets(slots.whole(0)) for part in slots.parts(1, 4)] == [True, True, False, False]


@given(LAYERS, st.integers(0, 30))
def test_neighbours_meet_in_no_more_slots_than_are_missing(sizes: list[int], more: int) -> None:
    rows = max(sizes) + more
    slots = Slots(sizes, rows, 1)
    for layer in slots.layers:
        if (following := slots.after(layer)) is not None:
            parts = slots.parts(following, sizes[following])
            met = sum(part.meets(slots.whole(layer)) for part in parts)
            assert met == max(0, sizes[layer] + sizes[following] - rows)


@pytest.mark.parametrize(("sizes", "rows", "part"), [([4], 3, 1), ([4], 4, 0)])
def test_what_has_no_room_is_refused(sizes: list[int], rows: int, part: int) -> None:
    with pytest.raises(ValueError, match="slots in parts of"):
        Slots(sizes, rows, part)
