"""What one barrier may copy and take, by the pace and by whoever asks."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "budgets.py"
CHECKS = (
    "the_pace_holds",
    "budgets_that_take_no_swap_are_refused_where_the_map_follows",
    "the_layer_with_the_largest_rows_must_fit",
    "a_device_that_is_waited_for_past_the_seconds_starves_nothing",
    "the_barriers_own_budgets_are_left_alone_where_a_pace_names_none",
    "a_setting_that_is_changed_alone_leaves_the_other_budget_as_it_is",
    "settings_by_name_that_begin_it_leave_the_budgets_that_they_do_not_name",
    "a_pace_ends_its_own_budgets_and_nobody_elses",
    "a_whole_pace_has_the_budgets_that_it_names",
    "the_pace_and_the_budgets_are_told",
)


@pytest.mark.parametrize("check", CHECKS)
def test_budgets(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
