"""Swaps whose copies fail, at every step."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "copy_faults.py"
CHECKS = (
    "an_entry_that_cannot_be_written_loses_no_row",
    "a_table_that_stays_broken_serves_what_it_served",
    "addresses_that_cannot_be_kept_are_told",
    "an_entry_that_was_not_taken_back_is_so_before_any_row_moves",
    "a_hook_of_rows_that_raises_is_told",
    "a_failed_copy_whose_check_fails_too_is_told_whole",
    "the_expert_stays_on_a_whole_row_and_is_named",
    "a_failure_is_healed_by_later_swaps",
    "faults_among_random_swaps_never_show",
    "a_copy_to_anothers_row_is_named_with_the_other",
    "a_write_beyond_the_row_is_found",
    "a_copy_that_comes_too_late_is_caught",
    "a_table_switched_before_the_bytes_shows_in_the_first_forward",
)


@pytest.mark.parametrize("check", CHECKS)
def test_copy_faults(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
