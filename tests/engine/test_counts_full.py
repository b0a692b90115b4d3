"""The whole matrix of the usage counter: every prompt length, other batches, blocks and caches."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.counting import HAPPENED, PINS, require_exact, require_idle, tight
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine_full

NEEDS_SMALL = {"chunked_prefill", "prefix_cache_hits", "preemption"}
SHAPES: dict[str, dict[str, Any]] = {
    # As vLLM comes, without a prefix cache; nothing but the counter looks at the router.
    "plain": {
        "engine": {"enable_prefix_caching": False},
        "scenarios": [name for name in HAPPENED if name not in NEEDS_SMALL],
        "captured": False,
    },
    "narrow": {
        "engine": {"block_size": 32, "max_num_batched_tokens": 32, "num_gpu_blocks_override": 90},
        "scenarios": list(HAPPENED),
        "captured": True,
    },
    "wide": {
        "engine": {"block_size": 64, "max_num_batched_tokens": 256, "num_gpu_blocks_override": 64},
        "scenarios": list(HAPPENED),
        "captured": True,
    },
}


def jobs() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every engine: its mode and its job."""
    found = {mode: (mode, tight(mode)) for mode in ("compiled", "ahead")}
    for name, shape in SHAPES.items():
        for mode in ("eager", "compiled"):
            engine = {**shape["engine"], "enforce_eager": mode == "eager"}
            job = {**shape, "name": f"{name}-{mode}", "engine": engine, "ahead": False}
            found[f"{name}-{mode}"] = (mode, job)
    return found


JOBS = jobs()
CASES = [(name, scenario) for name, (_, job) in JOBS.items() for scenario in job["scenarios"]]


@pytest.fixture(scope="module", params=PINS)
def found(
    request: pytest.FixtureRequest,
    laid: Callable[[str], Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:  # noqa: ANN401 - JSON
    """What every engine of a pin counted."""
    wanted = [job for _, job in JOBS.values()]
    folder = tmp_path_factory.mktemp("counts")
    return laid(request.param).run_jobs("count_matrix.py", wanted, folder=folder)


@pytest.mark.parametrize("engine", JOBS)
def test_nothing_is_counted_before_the_first_request(found: dict[str, Any], engine: str) -> None:
    mode, _ = JOBS[engine]
    require_idle(found[engine], mode)


@pytest.mark.parametrize(("engine", "scenario"), CASES)
def test_picks_are_routed_tokens_times_k_times_layers(
    found: dict[str, Any], engine: str, scenario: str
) -> None:
    require_exact(scenario, found[engine]["scenarios"][scenario], ahead=engine == "ahead")
