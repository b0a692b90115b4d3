"""The balance loss that the trained models are trained with: of each layer, by the torch that a lane has."""

import pytest

from tests.engine.lane_python import INSIDE

pytestmark = pytest.mark.engine

SCRIPT = "layer_balance.py"
CHECKS = (
    "each_layer_is_judged_by_itself",
    "an_even_layer_has_the_least",
    "it_is_the_mean_over_layers",
    "its_gradient_leads_to_the_experts_that_are_not_used",
)


@pytest.mark.parametrize("check", CHECKS)
def test_layer_balance(failures: dict[str, str | None], check: str) -> None:
    assert failures[check] is None


def test_every_check_is_told(failures: dict[str, str | None]) -> None:
    assert set(failures) == set(CHECKS), INSIDE / SCRIPT
