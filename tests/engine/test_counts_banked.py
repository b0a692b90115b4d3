"""Sums of the counter by bank, exact in every way that a token can be scheduled.

On the CPU, eager steps keep their picks and count them later: nothing that is scheduled, taken back
or computed again may be lost on the way.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.counting import SCENARIOS, require_exact, require_idle, tight
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

MODES = ("eager", "ahead")
BANKED = {"moe_hot_experts": "12,5,15,1", "moe_cold_rows": "exclusive", "moe_usage_counter": None}


@pytest.fixture(scope="module")
def found(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401 - JSON
    """What an engine of each mode counted."""
    jobs = [{**job, "engine": {**job["engine"], **BANKED}} for job in map(tight, MODES)]
    folder = tmp_path_factory.mktemp("banked")
    return laid("0.32.0", "cpu-twobank").run_jobs("count_matrix.py", jobs, folder=folder)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_counted_before_the_first_request(found: dict[str, Any], mode: str) -> None:
    require_idle(found[mode], mode)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("mode", MODES)
def test_picks_are_routed_tokens_times_k_times_layers(
    found: dict[str, Any], mode: str, scenario: str
) -> None:
    require_exact(scenario, found[mode]["scenarios"][scenario], ahead=mode == "ahead")
