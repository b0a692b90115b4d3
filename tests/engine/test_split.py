"""The splitting op and its kernels, by Triton's interpreter and by a GPU."""

from collections.abc import Callable

import pytest

from tests.engine.kernels import WHERE, failures_of
from tests.engine.lane_python import INSIDE, Laid

SCRIPT = "split.py"
CHECKS = (
    "reference_splits_as_python_does",
    "kernel_splits_as_python_does",
    "kernel_wraps_at_32_bits",
    "ids_that_are_no_expert_get_place_0",
    "reference_refuses_tokens_ids_that_are_no_expert",
    "one_wrong_bank_shows",
    "op_keeps_torchs_contract",
    "registering_again_changes_nothing",
    "compiled_code_keeps_the_op",
)


@pytest.fixture(scope="module", params=WHERE)
def failures(
    request: pytest.FixtureRequest,
    laid: Callable[[str], Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str | None]:
    """By check, why it failed."""
    return failures_of(SCRIPT, request.param, laid, tmp_path_factory.mktemp("split"))


@pytest.mark.parametrize("check", CHECKS)
def test_split(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
