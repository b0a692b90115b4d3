"""The slot-order finalize and the merge of two unfinalized calls, by Triton's interpreter and by a GPU."""

import pytest

from tests.engine.lane_python import INSIDE

SCRIPT = "finalize.py"
CHECKS = (
    "reference_sums_in_slot_order",
    "kernel_has_the_references_bits",
    "no_token_is_no_error",
    "two_calls_have_one_calls_bits_for_every_map",
    "a_joined_answer_is_of_upstreams_form",
    "picks_that_not_exactly_one_call_has_are_counted",
    "a_row_of_the_wrong_bank_shows",
    "two_partial_sums_differ",
    "other_forms_are_refused",
)


@pytest.mark.parametrize("check", CHECKS)
def test_finalize(kernel_failures: dict[str, str | None], check: str) -> None:
    assert kernel_failures[check] is None


def test_every_check_is_told(kernel_failures: dict[str, str | None]) -> None:
    assert set(kernel_failures) == set(CHECKS), INSIDE / SCRIPT
