"""Sums of the usage counter on real vLLM, exact in every way that a token can be scheduled.

The other releases have the longer tier, their other modes in ``test_counts_full.py``.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import PIN
from tests.engine.counting import PINS, SCENARIOS, require_exact, require_idle, tight
from tests.engine.lane_python import Laid

MODES = dict.fromkeys(PINS, ("eager",)) | {PIN: ("eager", "compiled", "ahead")}
ENGINES = [
    pytest.param(pin, mode, marks=pytest.mark.engine if pin == PIN else pytest.mark.engine_full)
    for pin, modes in MODES.items()
    for mode in modes
]
over_engines = pytest.mark.parametrize(
    ("found", "mode"), ENGINES, indirect=["found"], scope="module"
)


@pytest.fixture(scope="module")
def found(
    request: pytest.FixtureRequest,
    laid: Callable[[str], Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:  # noqa: ANN401 - JSON
    """What every engine of a pin counted; vLLM is imported once for all."""
    jobs = [tight(mode) for mode in MODES[request.param]]
    folder = tmp_path_factory.mktemp("counts")
    return laid(request.param).run_jobs("count_matrix.py", jobs, folder=folder)


@over_engines
def test_nothing_is_counted_before_the_first_request(found: dict[str, Any], mode: str) -> None:
    require_idle(found[mode], mode)


@pytest.mark.parametrize("scenario", SCENARIOS)
@over_engines
def test_picks_are_routed_tokens_times_k_times_layers(
    found: dict[str, Any], mode: str, scenario: str
) -> None:
    require_exact(scenario, found[mode]["scenarios"][scenario], ahead=mode == "ahead")
