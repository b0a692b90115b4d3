"""Banks as a layer's rows are taken apart into them."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "filling.py"
CHECKS = (
    "every_expert_is_whole_at_its_place",
    "hot_rows_keep_the_maps_order",
    "a_mirror_has_every_experts_row",
    "exclusive_banks_have_one_row_to_spare",
    "an_empty_map_leaves_the_hot_rows_free",
    "unused_rows_are_written_to",
    "a_real_mapping_is_filled_to_its_last_byte",
    "a_banks_numbers_are_its_tensors",
)


@pytest.mark.parametrize("check", CHECKS)
def test_filling(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
