"""Two banks asleep, in memory that really goes."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "sleep.py"
CHECKS = (
    "all_is_as_before_whatever_the_layout",
    "hot_rows_are_kept_by_the_mirror_alone",
    "a_staging_buffer_is_not_kept_and_is_staged_into_again",
    "exclusive_banks_leave_all_to_vllm",
    "without_any_of_it_all_hot_rows_and_entries_are_named",
    "what_is_asleep_is_not_touched",
    "weights_that_wake_last_are_waited_for",
    "the_device_is_drained_before_a_byte_is_read",
)


@pytest.mark.parametrize("check", CHECKS)
def test_sleep(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
