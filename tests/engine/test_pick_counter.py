"""The counter of picks, by the torch that a lane runs on."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "pick_counter.py"
CHECKS = (
    "snapshots_are_int64_and_stay",
    "differences_are_exact_across_a_wrap",
    "nothing_is_lost_when_nobody_reads",
    "a_forward_outside_of_a_step_is_not_counted",
    "a_failed_step_leaves_nothing_scheduled",
    "a_layer_that_ran_on_some_of_the_tokens_is_told",
)


@pytest.mark.parametrize("check", CHECKS)
def test_pick_counter(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
