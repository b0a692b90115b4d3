"""A self-check asks each bank's own layer, by its name."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "self_check_layers.py"
CHECKS = (
    "each_layer_is_asked_of_its_own_bank",
    "a_bank_that_no_layer_has_is_refused_by_name",
)


@pytest.mark.parametrize("check", CHECKS)
def test_self_check(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
