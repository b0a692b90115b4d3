"""What steers the map enters no hash and changes no answer, told at boot or while serving."""

from collections.abc import Callable
from typing import Any

import pytest

from lanewright.serve.equality.arms import FOLLOWED, FORCED
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

HALF = [[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]] * 4
CALLS: list[list[Any]] = [
    [FOLLOWED[0], *FOLLOWED[1]],
    ["expert_bank_follow", {"every": 3, "bytes": 2**40, "seconds": 60.0}],
    ["expert_bank_freeze", True],
    ["expert_bank_map", HALF],
    ["expert_bank_freeze", False],
    [FORCED[0], *FORCED[1]],
    ["expert_bank_force", 0, 1, 0],
    ["expert_bank_budget", 10**6, 0.5],
    ["expert_bank_follow", None],
]
STILL, STEERED, FOLLOWS, OTHER = "still", "steered", "follows", "other"


@pytest.fixture(scope="module")
def found(laid: Callable[..., Laid], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each engine told."""
    lane = laid("0.32.0", "cpu-twobank")
    engine = {
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "moe_usage_counter": None,
        "moe_hot_experts": "12",
    }
    jobs: list[dict[str, Any]] = [
        {"name": STILL, "engine": engine, "calls": []},
        {"name": STEERED, "engine": engine, "calls": CALLS},
        {"name": FOLLOWS, "engine": {**engine, "moe_follow": "every=2,half_life=64"}, "calls": []},
        {"name": OTHER, "engine": {**engine, "moe_hot_experts": "11"}, "calls": []},
    ]
    folder = tmp_path_factory.mktemp("states")
    return lane.run_jobs("run_time_states.py", jobs, folder=folder)


def test_no_run_time_state_enters_the_hash(found: dict[str, Any]) -> None:
    hashes = {each["hash"] for name in (STILL, STEERED, FOLLOWS) for each in found[name]["states"]}
    (only,) = hashes
    assert only
    # What changes a shape does.
    assert found[OTHER]["states"][0]["hash"] != only


def test_answers_are_the_same_in_every_state(found: dict[str, Any]) -> None:
    expected = found[STILL]["states"][0]
    for name in (STEERED, FOLLOWS):
        for each in found[name]["states"]:
            assert (each["ids"], each["bits"]) == (expected["ids"], expected["bits"]), each["state"]


def test_the_states_were_there(found: dict[str, Any]) -> None:
    states = {each["state"]: each for each in found[STEERED]["states"]}
    assert [each["state"] for each in found[STEERED]["states"][1:]] == [call[0] for call in CALLS]
    assert states["expert_bank_map"]["told"] == HALF
    assert states["expert_bank_follow"]["told"] is None
    banks = found[STEERED]["banks"]
    assert banks["swaps"] > 0
    assert (banks["audit"], banks["failures"], banks["follows"]) == ([], [], None)
    assert found[FOLLOWS]["banks"]["follows"]["trusted"]
    assert found[STILL]["banks"]["follows"] is None
    assert found[STILL]["banks"]["swaps"] == 0
