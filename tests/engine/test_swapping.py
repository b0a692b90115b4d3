"""Swaps between two banks, of every kind."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "swapping.py"
CHECKS = (
    "every_row_is_as_loaded_after_each_swap",
    "the_first_forward_after_each_swap_is_the_resident_layers",
    "two_partial_sums_hang_on_the_map",
    "a_swap_tells_what_it_moved",
    "a_mirrors_demotion_points_back_to_the_experts_own_row",
    "exclusive_banks_are_never_without_a_whole_row",
    "what_is_used_up_comes_back",
    "a_row_that_nobody_has_is_asked_for_in_vain",
    "a_row_is_verified_against_what_was_loaded",
)


@pytest.mark.parametrize("check", CHECKS)
def test_swapping(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
