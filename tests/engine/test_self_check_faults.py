"""A self-check whose layer raises leaves the map as it was."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "self_check_faults.py"
CHECKS = (
    "a_layer_that_raises_leaves_the_experts_where_they_were",
    "what_cannot_be_swapped_back_is_noted_and_the_first_error_is_raised",
)


@pytest.mark.parametrize("check", CHECKS)
def test_self_check(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
