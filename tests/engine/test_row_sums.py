"""Sums that tell rows apart."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "row_sums.py"
CHECKS = (
    "sums_are_those_of_python",
    "one_changed_byte_always_shows",
    "two_words_that_change_places_always_show",
    "parts_make_the_same_sum",
    "no_row_and_no_byte_have_sums",
    "where_a_row_lies_does_not_matter",
    "tensors_stand_side_by_side",
)


@pytest.mark.parametrize("check", CHECKS)
def test_row_sums(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
