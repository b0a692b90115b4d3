"""Sleeps that something stands against: all stays as it was, or nothing is served."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "sleep_faults.py"
CHECKS = (
    "a_mirrors_row_that_was_spoilt_meanwhile_is_named",
    "a_mirrors_row_that_was_spoilt_before_keeps_the_hot_one",
    "an_entry_that_is_not_the_hosts_is_named",
    "a_table_that_is_not_whole_by_its_own_check_is_told",
    "an_entry_that_is_torn_is_mended_first_or_refused",
    "host_memory_without_room_is_told_before_anything_is_taken",
    "a_copy_that_fails_midway_leaves_all_as_it_was",
    "a_copy_back_that_fails_can_be_made_again",
    "a_pool_or_a_bank_that_is_elsewhere_is_told",
)


@pytest.mark.parametrize("check", CHECKS)
def test_sleep_faults(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
