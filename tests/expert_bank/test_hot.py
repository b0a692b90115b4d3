"""How many rows a spec makes hot."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.hot import VALID, hot_rows
from expert_bank.refused import Refused

ROW = 2**20
REAL_ROW = 18_790_482  # 17.92 MiB
LANE = [384] * 40


def rows_of(spec: str, experts: Sequence[int], row_bytes: Sequence[int] = ()) -> tuple[int, ...]:
    return hot_rows(spec, experts=experts, row_bytes=row_bytes or [ROW] * len(experts))


@pytest.mark.parametrize(
    ("spec", "experts", "hot"),
    [
        ("295", LANE, (295,) * 40),
        ("0", [16, 16], (0, 0)),
        ("16", [16], (16,)),
        ("007", [16], (7,)),
        ("12,16,0,16", [16] * 4, (12, 16, 0, 16)),
        ("12, 16,0 ,16", [16] * 4, (12, 16, 0, 16)),
        ("3,8", [4, 8], (3, 8)),
        ("fit:0KiB", [16, 16], (0, 0)),
        ("fit:1MiB", [16, 16], (1, 0)),
        ("fit:1023KiB", [16, 16], (0, 0)),
        ("fit:6MiB", [16, 16], (3, 3)),
        ("fit:7MiB", [16, 16], (4, 3)),
        ("fit:7.99MiB", [16, 16], (4, 3)),
        ("fit:1GiB", [16, 16], (16, 16)),
        ("fit:10MiB", [2, 16, 16], (2, 4, 4)),
        ("fit:9MiB", [2, 16, 16], (2, 4, 3)),
        ("position:3", [4, 4, 4], (4, 4, 1)),
        ("position:2", [4, 4, 4], (4, 2, 0)),
        ("position:0", [4, 4], (0, 0)),
        ("position:fit:7MiB", [4, 4, 4], (4, 3, 0)),
        ("position:fit:1GiB", [4, 4], (4, 4)),
    ],
)
def test_each_form(spec: str, experts: Sequence[int], hot: tuple[int, ...]) -> None:
    assert rows_of(spec, experts) == hot


def test_a_smaller_row_behind_the_first_that_does_not_fit_is_not_taken() -> None:
    assert rows_of("fit:5KiB", [4, 4, 4], [2048, 4096, 1024]) == (1, 0, 0)
    assert rows_of("position:fit:7KiB", [4, 4], [4096, 1024]) == (1, 0)


def test_the_lanes_number_is_what_its_bytes_fit() -> None:
    # 40 x 295 rows of 17.92 MiB are 206.5 GiB, and a row's third of a byte is rounded up.
    assert hot_rows("fit:206.51GiB", experts=LANE, row_bytes=[REAL_ROW] * 40) == (295,) * 40
    by_position = hot_rows("position:295", experts=LANE, row_bytes=[REAL_ROW] * 40)
    assert by_position == (384,) * 30 + (280,) + (0,) * 9


@pytest.mark.parametrize(
    ("spec", "part", "valid"),
    [
        ("", "'' is no number of rows", VALID),
        ("many", "'many' is no number of rows", VALID),
        ("-1", "'-1' is no number of rows", VALID),
        ("1.5", "'1.5' is no number of rows", VALID),
        ("٣", "'٣' is no number of rows", VALID),
        ("9" * 5000, f"'{'9' * 5000}' is no number of rows", VALID),
        ("17", "17 is more than layer 0's 16 experts", "give 0 to 16"),
        ("1,2,3,9", "9 is more than layer 3's 8 experts", "give 0 to 8"),
        ("1,2,3", "it has 3 numbers, and the model 4 layers", VALID),
        ("1,2,3,4,5", "it has 5 numbers, and the model 4 layers", VALID),
        ("1,,3,4", "'' is no number of rows", VALID),
        ("1,2,3,", "'' is no number of rows", VALID),
        ("fit:", "'' is no size", VALID),
        ("fit:200", "'200' is no size", VALID),
        ("fit:200GB", "'200GB' is no size", VALID),
        ("fit:1,2,3,4", "'1,2,3,4' is no size", VALID),
        ("Fit:1GiB", "'Fit:1GiB' is no number of rows", VALID),
        ("position:", "'' is no number of rows", VALID),
        ("position:1,2,3,4", "a vector ('1,2,3,4') has its own order of layers", VALID),
        ("position:position:1", "'position:1' is no number of rows", VALID),
        ("position:17", "17 is more than layer 0's 16 experts", "give 0 to 16"),
    ],
)
def test_what_cannot_be_is_refused_by_its_part(spec: str, part: str, valid: str) -> None:
    with pytest.raises(Refused) as refused:
        rows_of(spec, [16, 16, 16, 8])
    assert str(refused.value) == f"moe_hot_experts {spec!r}: {part}\n{valid}"


@pytest.mark.parametrize(
    ("experts", "row_bytes"), [([], []), ([4], []), ([4], [1, 1]), ([0], [1]), ([4], [0])]
)
def test_what_is_no_model_is_a_mistake_of_the_caller(
    experts: list[int], row_bytes: list[int]
) -> None:
    with pytest.raises(ValueError, match="no layers, or not a row size each"):
        hot_rows("1", experts=experts, row_bytes=row_bytes)


layers = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 5)), min_size=1, max_size=6)


@given(layers, st.integers(0, 300))
def test_what_fits_fits_and_is_even(model: list[tuple[int, int]], budget: int) -> None:
    experts, row_bytes = [e for e, _ in model], [size * 1024 for _, size in model]
    hot = rows_of(f"fit:{budget}KiB", experts, row_bytes)
    left = budget * 1024 - sum(h * size for h, size in zip(hot, row_bytes, strict=True))
    assert left >= 0
    assert all(0 <= h <= e for h, e in zip(hot, experts, strict=True))
    growing = [layer for layer, h in enumerate(hot) if h < experts[layer]]
    if not growing:
        return
    # All that can still grow have n rows or n + 1, those with one more first.
    least = min(hot[layer] for layer in growing)
    assert all(min(e, least) <= h <= least + 1 for h, e in zip(hot, experts, strict=True))
    first = next(layer for layer in growing if hot[layer] == least)
    assert all(hot[layer] <= least for layer in range(first, len(hot)))
    assert row_bytes[first] > left


@given(layers, st.integers(0, 300))
def test_by_position_bytes_and_rows_are_no_more(model: list[tuple[int, int]], budget: int) -> None:
    experts, row_bytes = [e for e, _ in model], [size * 1024 for _, size in model]
    even = rows_of(f"fit:{budget}KiB", experts, row_bytes)
    whole = rows_of(f"position:fit:{budget}KiB", experts, row_bytes)
    assert sum(h * size for h, size in zip(whole, row_bytes, strict=True)) <= budget * 1024
    assert sum(whole) <= sum(even)
    if len(set(row_bytes)) == 1:
        assert sum(whole) == sum(even)
    filled = next((layer for layer, h in enumerate(whole) if h < experts[layer]), len(whole))
    assert not any(whole[filled + 1 :])


@given(st.lists(st.integers(4, 12), min_size=1, max_size=6), st.integers(0, 4))
def test_by_position_a_number_gives_the_same_total(experts: list[int], number: int) -> None:
    whole = rows_of(f"position:{number}", experts)
    assert sum(whole) == number * len(experts)
    filled = next((layer for layer, h in enumerate(whole) if h < experts[layer]), len(whole))
    assert whole[:filled] == tuple(experts[:filled])
    assert not any(whole[filled + 1 :])
