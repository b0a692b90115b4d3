"""Swaps that somebody lists: made by a worker, or refused with nothing changed."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "worker_calls.py"
CHECKS = (
    "listed_swaps_are_made",
    "what_was_picked_before_is_scored_under_the_old_map",
    "a_refused_swap_leaves_rows_and_policy_as_they_were",
    "during_a_warm_up_it_is_refused_and_seen_by_nobody",
    "where_all_are_resident_it_says_so",
)


@pytest.mark.parametrize("check", CHECKS)
def test_worker_calls(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
