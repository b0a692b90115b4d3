"""Rows that are NaN while nobody is served from them."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "poison.py"
CHECKS = (
    "poison_is_nan_in_every_float",
    "rows_are_poisoned_exactly_while_nobody_reads_them",
    "a_demotion_restores_the_mirror",
    "a_read_of_the_other_bank_shows",
    "a_read_of_a_row_that_was_left_shows",
    "without_poison_a_wrong_bank_would_not_show",
    "poison_keeps_its_copies_apart",
)


@pytest.mark.parametrize("check", CHECKS)
def test_poison(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
