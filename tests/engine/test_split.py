"""The splitting op and its kernels, by Triton's interpreter and by a GPU."""

import pytest

from tests.engine.lane_python import INSIDE

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


@pytest.mark.parametrize("check", CHECKS)
def test_split(kernel_failures: dict[str, str | None], check: str) -> None:
    assert kernel_failures[check] is None


def test_every_check_is_told(kernel_failures: dict[str, str | None]) -> None:
    assert set(kernel_failures) == set(CHECKS), INSIDE / SCRIPT
