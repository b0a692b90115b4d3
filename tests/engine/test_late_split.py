"""The split that counts later, against the op."""

import pytest

from tests.engine.lane_python import INSIDE

SCRIPT = "late_split.py"
CHECKS = (
    "places_and_counts_are_the_ops",
    "nothing_is_counted_outside_of_a_step",
    "picks_count_for_the_bank_that_served_them",
    "tokens_ids_that_are_no_expert_are_refused",
    "cells_wrap_at_32_bits",
    "only_so_much_is_kept",
    "ids_that_are_overwritten_show",
    "reuse_behind_a_reading_harms_nothing",
    "counts_that_are_not_exact_stay_so",
    "ids_that_nobody_scheduled_overwrite_none",
)


@pytest.mark.parametrize("check", CHECKS)
def test_late_split(kernel_failures: dict[str, str | None], check: str) -> None:
    assert kernel_failures[check] is None


def test_every_check_is_told(kernel_failures: dict[str, str | None]) -> None:
    assert set(kernel_failures) == set(CHECKS), INSIDE / SCRIPT
