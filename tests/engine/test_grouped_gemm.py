"""The grouped GEMM over row addresses, by Triton's interpreter and by a GPU."""

from collections.abc import Callable

import pytest

from tests.engine.kernels import WHERE, failures_of
from tests.engine.lane_python import INSIDE, Laid

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


@pytest.fixture(scope="module", params=WHERE)
def failures(
    request: pytest.FixtureRequest,
    laid: Callable[[str], Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str | None]:
    """By check, why it failed."""
    return failures_of(SCRIPT, request.param, laid, tmp_path_factory.mktemp("grouped_gemm"))


@pytest.mark.parametrize("check", CHECKS)
def test_grouped_gemm(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
