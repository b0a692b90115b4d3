"""Where each expert is, on the device and on the host."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "table.py"
CHECKS = (
    "places_count_through_both_banks",
    "a_layer_before_its_fill_is_nowhere",
    "an_entry_is_written_whole_in_one_copy",
    "generations_grow_by_one_and_wrap",
    "addresses_never_change",
    "one_other_number_on_the_device_is_named",
    "the_hosts_copy_is_its_own",
)


@pytest.mark.parametrize("check", CHECKS)
def test_table(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
