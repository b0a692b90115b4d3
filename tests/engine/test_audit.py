"""What an audit of two banks names."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "audit.py"
CHECKS = (
    "what_is_right_is_not_told",
    "an_exchanged_pair_of_rows_is_named",
    "one_moved_scale_row_is_named",
    "one_changed_bit_of_any_tensor_is_named",
    "a_devices_other_table_is_named",
    "two_experts_of_one_place_are_named",
    "a_reload_into_the_first_places_is_named",
)


@pytest.mark.parametrize("check", CHECKS)
def test_audit(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
