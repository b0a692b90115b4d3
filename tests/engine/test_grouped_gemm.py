"""The grouped GEMM over row addresses, by Triton's interpreter and by a GPU."""

import pytest

from tests.engine.lane_python import INSIDE

SCRIPT = "grouped_gemm.py"
CHECKS = (
    "blocks_hold_every_pick_once",
    "output_is_close_to_float64",
    "output_is_equal_for_every_map",
    "output_is_equal_through_swaps",
    "a_wrong_row_shows",
    "two_partial_sums_differ_where_slots_in_order_do_not",
    "ids_that_are_no_expert_answer_with_zeros",
)


@pytest.mark.parametrize("check", CHECKS)
def test_grouped_gemm(kernel_failures: dict[str, str | None], check: str) -> None:
    assert kernel_failures[check] is None


def test_every_check_is_told(kernel_failures: dict[str, str | None]) -> None:
    assert set(kernel_failures) == set(CHECKS), INSIDE / SCRIPT
