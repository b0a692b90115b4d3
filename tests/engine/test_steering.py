"""A map that is told to follow traffic, to stay, or to be another one, while it serves."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "steering.py"
CHECKS = (
    "the_map_follows_what_is_picked",
    "without_following_nothing_moves",
    "no_total_goes_down_when_following_ends_and_begins_anew",
    "a_new_pace_keeps_what_was_seen",
    "nothing_ends_it",
    "frozen_it_stays_and_thawed_it_goes_on",
    "settings_that_are_none_are_refused_and_change_nothing",
    "a_map_is_set_whole_past_every_budget",
    "a_mirror_takes_a_map_with_free_rows_and_an_exclusive_bank_does_not",
    "maps_that_are_none_are_refused_and_move_nothing",
    "a_set_map_is_followed_from",
    "counts_that_are_not_exact_end_it_once",
    "swaps_that_fail_are_tried_again",
    "forced_swaps_come_between",
    "a_map_that_is_set_while_the_moving_one_is_not_trusted_stays",
    "a_map_that_is_set_as_it_is_served_is_trusted_anew",
    "what_was_picked_before_a_map_is_set_is_not_charged_to_it",
    "what_is_picked_while_rows_are_swapped_at_random_is_left_out",
    "an_exclusive_banks_swap_is_charged_two_rows",
    "a_map_that_was_set_before_is_held_against_that_of_the_boot",
    "neither_true_nor_false_freezes_nothing",
)


@pytest.mark.parametrize("check", CHECKS)
def test_steering(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
