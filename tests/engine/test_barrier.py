"""The barrier between two forwards."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "barrier.py"
CHECKS = (
    "a_closed_barrier_refuses_and_moves_nothing",
    "a_closed_barrier_lets_forwards_pass_without_swaps",
    "an_unsound_list_is_refused_whole",
    "bytes_cut_a_barrier",
    "seconds_cut_a_barrier",
    "the_device_is_drained_before_the_first_byte_moves",
    "an_undrained_forward_would_read_another_row",
    "a_listed_swap_comes_before_exactly_its_forward",
    "swaps_asked_for_now_are_made_now",
    "addresses_stay_where_they_were",
    "a_moved_bank_is_refused_before_anything_moves",
    "a_moved_bank_ends_the_forward",
    "whatever_a_forward_meets_is_a_failure",
    "totals_add_up",
)


@pytest.mark.parametrize("check", CHECKS)
def test_barrier(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
