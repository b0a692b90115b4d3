"""Sizes as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expert_bank.sizes import UNITS, parse_size, told


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0KiB", 0),
        ("1KiB", 1024),
        ("200GiB", 200 * 2**30),
        ("206.5GiB", 413 * 2**29),
        ("0.3KiB", 307),
        ("17.92MiB", 18_790_481),
    ],
)
def test_binary_units_are_read_exactly(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GiB",
        "200",
        "200GB",
        "200 GiB",
        "200gib",
        "-1GiB",
        "+1GiB",
        "1e3GiB",
        ".5GiB",
        "5.GiB",
        "1_0GiB",
        "٣GiB",
        "1GiB\n",
        "9" * 16 + "GiB",
        "infGiB",
        "1TiB",
        "1GiB1GiB",
    ],
)
def test_anything_else_is_no_size(text: str) -> None:
    assert parse_size(text) is None


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (61_440, "60.00 KiB"),
        (2**20 - 1, "1024.00 KiB"),
        (2**20, "1.00 MiB"),
        (413 * 2**29, "206.50 GiB"),
        (5000 * 2**30, "5000.00 GiB"),
        (-(2**30), "-1.00 GiB"),
    ],
)
def test_a_size_is_told_in_the_largest_unit_it_reaches(size: int, text: str) -> None:
    assert told(size) == text


@given(st.integers(0, 10**6), st.sampled_from(sorted(UNITS)))
def test_whole_sizes_come_back(number: int, unit: str) -> None:
    assert parse_size(f"{number}{unit}") == number * UNITS[unit]
