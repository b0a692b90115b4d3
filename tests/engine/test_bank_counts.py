"""Picks counted by the bank that served them."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "bank_counts.py"
CHECKS = (
    "picks_by_tier_are_those_of_a_trace",
    "what_nobody_scheduled_is_mapped_and_not_counted",
    "a_rejected_id_counts_nothing",
    "tiers_are_exact_across_a_wrap",
    "nothing_is_lost_when_nobody_reads",
)


@pytest.mark.parametrize("check", CHECKS)
def test_bank_counts(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
