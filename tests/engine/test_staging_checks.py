"""Staged steps over small banks: every order, every fault, and what is counted."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "staging_checks.py"
CHECKS = (
    "staged_steps_are_the_resident_layers_and_move_each_cold_row_once",
    "a_step_that_is_not_taken_reads_in_place",
    "layers_may_come_in_any_order",
    "rows_come_a_layer_ahead_as_far_as_there_are_slots",
    "copies_that_take_long_are_waited_for",
    "a_copy_that_copies_nothing_is_seen",
    "a_row_that_is_not_copied_is_seen_within_as_many_steps_as_there_are_rows",
    "a_copy_that_fails_or_says_less_is_told",
    "what_turns_staging_off_is_told_once",
    "a_check_that_fails_is_counted_and_nothing_is_staged_behind_it",
    "a_failure_leaves_no_copy_under_way",
    "a_layer_that_runs_again_behind_a_failure_reads_in_place",
    "banks_go_with_what_has_them",
    "a_forward_that_ends_early_leaves_nothing_under_way",
    "empty_hot_rows_have_no_slots_and_are_read_in_place",
    "a_check_counts_nothing",
    "a_layer_is_checked_by_itself",
    "a_warm_up_marks_every_layer_until_it_ends",
    "a_difference_that_a_device_noted_ends_staging_with_the_next_reading",
    "the_threshold_follows_the_share_that_was_counted",
    "the_share_is_of_layers_with_cold_rows_and_forgets",
    "counts_that_are_not_exact_end_no_forward",
    "what_is_steered_is_refused_where_it_is_no_setting",
)


@pytest.mark.parametrize("check", CHECKS)
def test_staging(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
