"""Swaps whose copies fail, at every step."""

import pytest

pytestmark = pytest.mark.engine

SCRIPT = "copy_faults.py"
CHECKS = (
    "the_expert_stays_on_a_whole_row_and_is_named",
    "a_failure_is_healed_by_later_swaps",
    "faults_among_random_swaps_never_show",
    "a_failed_copy_whose_check_fails_too_is_told_whole",
    "a_copy_to_anothers_row_is_named_with_the_other",
    "a_write_beyond_the_row_is_found",
    "a_copy_that_comes_too_late_is_caught",
    "a_table_switched_before_the_bytes_shows_in_the_first_forward",
)


@pytest.mark.parametrize("check", CHECKS)
def test_copy_faults(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
