"""Row copies and addresses, by Triton's interpreter and by a GPU."""

import pytest

from tests.engine.lane_python import INSIDE

SCRIPT = "row_copy.py"
CHECKS = (
    "copies_are_exact_and_guards_stay",
    "guards_show_a_byte_too_many",
    "every_count_copies_what_it_says",
    "a_count_that_cannot_be_is_told",
    "no_rows_are_refused",
    "kernel_copies_as_torch_does",
    "expert_addresses_are_those_of_places",
    "unlike_banks_are_refused",
)


@pytest.mark.parametrize("check", CHECKS)
def test_row_copy(kernel_failures: dict[str, str | None], check: str) -> None:
    assert kernel_failures[check] is None


def test_every_check_is_told(kernel_failures: dict[str, str | None]) -> None:
    assert set(kernel_failures) == set(CHECKS), INSIDE / SCRIPT
