"""What steers the map enters no hash and changes no answer, told at boot or while serving."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from lanewright.serve.equality.arms import FOLLOWED, FORCED
from tests.engine.lane_python import Laid

pytestmark = pytest.mark.engine

HALF = [[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]] * 4
# By which experts 4 to 15 are hot at boot.
USAGE = {
    "schema": 1,
    "layers": {f"model.layers.{n}.mlp.experts": [*range(16)] for n in range(4)},
}
CALLS: list[list[Any]] = [
    [FOLLOWED[0], *FOLLOWED[1]],
    ["expert_bank_follow", {"every": 3, "bytes": 2**40, "seconds": 60.0}],
    ["expert_bank_freeze", True],
    ["expert_bank_map", HALF],
    ["expert_bank_swap", [[0, 0, 4], [3, 1, 5]]],
    ["expert_bank_map"],
    ["expert_bank_freeze", False],
    [FORCED[0], *FORCED[1]],
    ["expert_bank_force", 0, 1, 0],
    ["expert_bank_budget", 10**6, 0.5],
    ["expert_bank_follow", None],
]
STILL, STEERED, FOLLOWS, MAPPED, OTHER = "still", "steered", "follows", "mapped", "other"


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
    folder = tmp_path_factory.mktemp("states")
    usage = folder / "usage.json"
    usage.write_text(json.dumps(USAGE))
    jobs: list[dict[str, Any]] = [
        {"name": STILL, "engine": engine, "calls": []},
        {"name": STEERED, "engine": engine, "calls": CALLS},
        {"name": FOLLOWS, "engine": {**engine, "moe_follow": "every=2,half_life=64"}, "calls": []},
        {"name": MAPPED, "engine": {**engine, "moe_boot_map": str(usage)}, "calls": []},
        {"name": OTHER, "engine": {**engine, "moe_hot_experts": "11"}, "calls": []},
    ]
    return lane.run_jobs("run_time_states.py", jobs, folder=folder)


def test_no_run_time_state_enters_the_hash(found: dict[str, Any]) -> None:
    hashes = set()
    for name in (STILL, STEERED, FOLLOWS, MAPPED):
        for each in found[name]["states"]:
            # The engine's, and those of what the calls go to.
            (workers,) = each["workers"]
            hashes |= {each["hash"], *workers}
    (only,) = hashes
    assert only
    # What changes a shape does.
    assert found[OTHER]["states"][0]["hash"] != only


def test_answers_are_the_same_in_every_state(found: dict[str, Any]) -> None:
    expected = found[STILL]["states"][0]
    for name in (STEERED, FOLLOWS, MAPPED):
        for each in found[name]["states"]:
            assert (each["ids"], each["bits"]) == (expected["ids"], expected["bits"]), each["state"]


def test_the_states_were_there(found: dict[str, Any]) -> None:
    states = {each["state"]: each for each in found[STEERED]["states"]}
    assert [each["state"] for each in found[STEERED]["states"][1:]] == [call[0] for call in CALLS]
    maps = [each["told"] for each in found[STEERED]["states"] if each["state"] == "expert_bank_map"]
    assert maps == [HALF, [[0, *HALF[0][1:]], HALF[1], HALF[2], [1, 4, *HALF[3][2:]]]]
    assert states["expert_bank_swap"]["told"]["failed"] == 0
    assert states["expert_bank_follow"]["told"] is None
    banks = found[STEERED]["banks"]
    assert banks["swaps"] > 0
    assert (banks["audit"], banks["failures"], banks["follows"]) == ([], [], None)
    follows = found[FOLLOWS]["banks"]["follows"]
    assert follows["decisions"] == found[FOLLOWS]["banks"]["forwards"] // 2 > 0
    # The boot map that a usage file names is another one.
    assert found[MAPPED]["banks"]["cold_picks"] != found[STILL]["banks"]["cold_picks"]
    assert found[STILL]["banks"]["follows"] is None
    assert found[STILL]["banks"]["swaps"] == 0
