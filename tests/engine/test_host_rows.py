"""Rows in host memory under our kernels: by the interpreter, and by a GPU that reads them in place."""

import pytest

from tests.engine.lane_python import INSIDE

SCRIPT = "host_rows.py"
CHECKS = (
    "a_row_answers_alike_from_either_bank",
    "rows_go_both_ways_by_one_launch",
    "a_map_over_both_memories_is_the_resident_layer",
)


@pytest.mark.parametrize("check", CHECKS)
def test_host_rows(kernel_failures: dict[str, str | None], check: str) -> None:
    assert kernel_failures[check] is None


def test_every_check_is_told(kernel_failures: dict[str, str | None]) -> None:
    assert set(kernel_failures) == set(CHECKS), INSIDE / SCRIPT
