"""A map that goes by what requests are like: an engine's swaps are a replay's, and no answer changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expert_bank.pace import Pace
from expert_bank.policy import Policy
from lanewright.residency.compared.forwards import forward_starts
from lanewright.residency.compared.prompts import ByPrompts
from lanewright.residency.compared.setting import Setting
from lanewright.residency.infinity.settings import Settings
from lanewright.residency.replay import replay
from lanewright.residency.trace_file.engine_file import read_engine_file
from tests.engine.conftest import PIN
from tests.engine.counting import EXPERTS, LAYERS, PINS
from tests.engine.lane_python import Laid

HOT, KEPT = 5, 6
FOLLOW = "every=4,swaps=2,tokens_per_swap=0,residence=0,half_life=128,margin=0,noise=0,ratio=1"
# Prompts are split, and prefixes shared.
BANKED = {
    "block_size": 32,
    "max_num_batched_tokens": 64,
    "moe_hot_experts": str(HOT),
    "moe_usage_counter": None,
}
ENGINES: dict[str, dict[str, Any]] = {
    "still": {"enforce_eager": True},
    "by_picks": {"enforce_eager": True, "moe_follow": FOLLOW},
    "eager": {
        "enforce_eager": True,
        "moe_follow": FOLLOW,
        "moe_follow_eams": KEPT,
    },
    "still_compiled": {"enforce_eager": False},
    "compiled": {
        "enforce_eager": False,
        "moe_follow": FOLLOW,
        "moe_follow_eams": KEPT,
    },
    # Nothing else has the layers keep their picks.
    "alone": {"enforce_eager": True, "moe_follow": FOLLOW, "moe_follow_eams": KEPT},
}
SHORT = ("still", "by_picks", "eager")
RECORDED = ("eager", "compiled")
BY_PROMPTS = ("eager", "compiled", "alone")


@pytest.fixture(scope="module")
def found(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> Any:  # noqa: ANN401 - JSON
    """What every engine of a pin told."""
    folder, pin = tmp_path_factory.mktemp("followed"), request.param
    jobs = [
        {
            "name": name,
            "folder": str(folder),
            "records": name in RECORDED,
            "engine": {**BANKED, **ENGINES[name]},
        }
        for name in (ENGINES if pin == PIN else SHORT)
    ]
    return laid(pin, "cpu-twobank").run_jobs("followed_prompts.py", jobs, folder=folder)


def over(names: tuple[str, ...]) -> pytest.MarkDecorator:
    each = [
        pytest.param(pin, name, marks=pytest.mark.engine if pin == PIN else pytest.mark.engine_full)
        for pin in PINS
        for name in names
        if pin == PIN or name in SHORT
    ]
    return pytest.mark.parametrize(("found", "name"), each, indirect=["found"], scope="module")


@over(BY_PROMPTS)
def test_no_answer_changes(found: dict[str, Any], name: str) -> None:
    still = "still_compiled" if name == "compiled" else "still"
    assert found[name]["answers"] == found[still]["answers"]
    assert found[name]["banks"]["audit"] == []
    assert found[name]["banks"]["swaps"] > 20


@over(BY_PROMPTS)
def test_requests_that_run_were_held_against_those_that_ran(
    found: dict[str, Any], name: str
) -> None:
    follows = found[name]["banks"]["follows"]
    assert follows["ended"] == ""
    assert follows["eams"]["kept"] == KEPT
    assert 0 < follows["eams"]["predictions"] < follows["decisions"]
    assert found["by_picks"]["banks"]["follows"]["eams"] is None
    assert found["by_picks"]["swaps"] != found[name]["swaps"]


@over(RECORDED)
def test_swaps_are_those_of_a_replay(found: dict[str, Any], name: str) -> None:
    facts = found[name]
    trace = read_engine_file(Path(facts["recorded"]["file"]))
    assert trace.tokens == facts["recorded"]["tokens"]
    boot = np.arange(EXPERTS)[None].repeat(LAYERS, 0) < HOT
    rows, pace = (HOT,) * LAYERS, Pace.read(FOLLOW)
    assert pace is not None
    on = Setting(trace=trace, boot=boot, rows=rows, row=1000, infinity=Settings(capacity=KEPT))
    starts = forward_starts(trace.forward)
    looks = [*range(pace.every - 1, len(starts), pace.every)]
    policy = Policy(
        [*boot], rows=rows, row_bytes=[1000] * LAYERS, picks_per_token=trace.picks, pace=pace
    )
    barriers = starts[looks].tolist()
    done = replay(
        ByPrompts(policy, on, barriers),
        trace.ids,
        boot,
        every=barriers,
        rows=rows,
        row_bytes=[1000] * LAYERS,
    )
    replayed = [
        [look + 1, [[each.layer, each.promote, each.demote] for each in swaps]]
        for look, swaps in zip(looks, done.swaps, strict=True)
        if swaps
    ]
    assert replayed == facts["swaps"]


@pytest.mark.engine
@pytest.mark.parametrize("found", [PIN], indirect=True, scope="module")
def test_picks_are_kept_as_the_record_has_them(found: dict[str, Any]) -> None:
    assert found["alone"]["swaps"] == found["eager"]["swaps"]
    assert found["alone"]["recorded"] is None
