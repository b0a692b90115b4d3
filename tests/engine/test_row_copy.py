"""Row copies and addresses, by Triton's interpreter and by a GPU."""

from collections.abc import Callable

import pytest

from tests.engine.kernels import WHERE, failures_of
from tests.engine.lane_python import INSIDE, Laid

SCRIPT = "row_copy.py"
CHECKS = (
    "copies_are_exact_and_guards_stay",
    "guards_show_a_byte_too_many",
    "every_count_copies_what_it_says",
    "a_count_that_cannot_be_is_told",
    "no_rows_are_refused",
    "kernel_copies_as_the_reference",
    "reference_refuses_what_has_no_one_meaning",
    "expert_addresses_are_those_of_places",
    "unlike_banks_are_refused",
)


@pytest.fixture(scope="module", params=WHERE)
def failures(
    request: pytest.FixtureRequest,
    laid: Callable[[str], Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str | None]:
    """By check, why it failed."""
    return failures_of(SCRIPT, request.param, laid, tmp_path_factory.mktemp("row_copy"))


@pytest.mark.parametrize("check", CHECKS)
def test_row_copy(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
