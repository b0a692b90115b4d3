"""Swaps whose table, watchers or hooks raise, at every step."""

import pytest

pytestmark = pytest.mark.engine

SCRIPT = "table_faults.py"
CHECKS = (
    "an_entry_that_cannot_be_written_loses_no_row",
    "a_table_that_stays_broken_serves_what_it_served",
    "addresses_that_cannot_be_kept_are_told",
    "an_entry_that_was_not_taken_back_is_so_before_any_row_moves",
    "a_hook_of_rows_that_raises_is_told",
)


@pytest.mark.parametrize("check", CHECKS)
def test_table_faults(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS)
