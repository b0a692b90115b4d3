"""Which engines are compared, how each is started, and what is asked of it first."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lanewright.serve.boot import EXTENSION, WORKERS
from lanewright.serve.environment import LaneEnv
from lanewright.serve.equality.arms import (
    FOLLOWED,
    FORCED,
    STAGED,
    STILL,
    LaneArm,
    lane_arms,
    pin_arms,
)
from lanewright.serve.equality.asked import DEFAULT, Asked, Mode
from lanewright.serve.equality.budget import Budget
from lanewright.serve.equality.prompts import PROMPTS

BANKS: Mapping[str, object] = {
    "max_model_len": 512,
    "moe_hot_experts": "12",
    "moe_cold_rows": "exclusive",
    "enable_prefix_caching": True,
}
OURS = {"worker_extension_cls": EXTENSION, "worker_cls": WORKERS["cpu"]}
COMPILED = {"enforce_eager": False, "enable_prefix_caching": False}
FOLDER = Path("/equality")


def arms(
    lane: LaneEnv, engine: Mapping[str, object], *modes: Mode, asked: Asked = DEFAULT
) -> dict[str, LaneArm]:
    found = lane_arms(Budget(modes or ("compiled",)), engine, lane, "cpu", asked, FOLDER)
    assert len({each.arm.name for each in found}) == len(found)
    return {each.arm.name: each for each in found}


@pytest.mark.parametrize(
    ("engine", "names"),
    [
        ({}, ["off"]),
        ({"moe_hot_experts": "", "moe_cold_rows": "mirror"}, ["off"]),
        ({"moe_usage_counter": True}, ["off", "on"]),
        (BANKS, ["off", "on", "swaps", "follows", "mapped"]),
        ({**BANKS, "moe_usage_counter": True}, ["off", "on", "swaps", "follows", "mapped"]),
    ],
)
def test_what_is_on_says_which_arms_there_are(
    lane: LaneEnv, engine: dict[str, Any], names: list[str]
) -> None:
    found = [*arms(lane, engine, "eager", "compiled")]
    assert found == [f"{mode}.{name}" for mode in ("eager", "compiled") for name in names]


def test_off_is_what_upstream_knows(lane: LaneEnv) -> None:
    off = arms(lane, BANKS)["compiled.off"]
    plain = {"max_model_len": 512, **COMPILED}
    assert off.engine == {"max_model_len": 512, "enable_prefix_caching": True}
    assert off.arm.engine == {"worker_extension_cls": EXTENSION, **plain}
    for arm in pin_arms(Budget(("compiled",)), BANKS, DEFAULT):
        assert arm.engine == plain


def test_two_banks_are_started_as_the_lane_says_and_once_from_another_map(lane: LaneEnv) -> None:
    found = arms(lane, BANKS)
    for name in ("on", "swaps", "follows"):
        assert found[f"compiled.{name}"].engine == BANKS
        assert found[f"compiled.{name}"].arm.engine == {**OURS, **BANKS, **COMPILED}
    mapped = found["compiled.mapped"]
    assert mapped.engine == {**BANKS, "moe_boot_map": "/equality/compiled.usage.json"}
    assert mapped.arm.engine == {**OURS, **mapped.engine, **COMPILED}


def test_where_swaps_are_forced_nothing_is_to_follow_traffic(lane: LaneEnv) -> None:
    found = arms(lane, {**BANKS, "moe_follow": "8"})
    following = {name for name, each in found.items() if "moe_follow" in each.engine}
    assert following == {f"compiled.{name}" for name in ("on", "follows", "mapped")}
    assert "moe_follow" not in found["compiled.swaps"].arm.engine


def test_the_map_is_the_one_that_the_first_arm_of_its_mode_keeps(lane: LaneEnv) -> None:
    found = arms(lane, BANKS, "eager", "compiled")
    kept = {name: each.arm.keeps for name, each in found.items() if each.arm.keeps}
    assert kept == {
        "eager.on": "/equality/eager.usage.json",
        "compiled.on": "/equality/compiled.usage.json",
    }
    order = [*found]
    for mode in ("eager", "compiled"):
        handed = found[f"{mode}.mapped"].arm.engine["moe_boot_map"]
        assert handed == kept[f"{mode}.on"]
        assert order.index(f"{mode}.on") < order.index(f"{mode}.mapped")


def test_swaps_are_asked_of_one_arm_alone(lane: LaneEnv) -> None:
    found = arms(lane, BANKS, "eager", "compiled")
    asked = {name: each.arm.calls for name, each in found.items() if each.arm.calls}
    assert asked == {
        f"{mode}.{name}": (call,)
        for mode in ("eager", "compiled")
        for name, call in (("swaps", FORCED), ("follows", FOLLOWED))
    }
    assert {name for name, each in found.items() if each.swaps} == {*asked}
    assert FORCED[0] == "expert_bank_force"
    every, pairs, _seed = FORCED[1]
    assert every >= 1
    assert pairs >= 1


def test_where_cold_rows_can_be_staged_those_of_every_prompt_are(lane: LaneEnv) -> None:
    found = arms(lane, {**BANKS, "moe_prefill_stage": "2"})
    assert {name.partition(".")[2]: each.arm.calls for name, each in found.items()} == {
        "off": (),
        "on": (STAGED,),
        "swaps": (STAGED, FORCED),
        "follows": (STAGED, FOLLOWED),
        "mapped": (STAGED,),
    }
    assert STAGED == ("expert_bank_stage", (True, 1))
    assert {name for name, each in found.items() if each.swaps} == {
        "compiled.swaps",
        "compiled.follows",
    }
    assert "moe_prefill_stage" not in found["compiled.off"].arm.engine


def test_all_are_asked_the_same(lane: LaneEnv) -> None:
    asked = Asked(prompts=20, tokens=32, together=(16, 20))
    ours = [each.arm for each in arms(lane, BANKS, asked=asked).values()]
    theirs = pin_arms(Budget(("compiled",)), BANKS, asked)
    for arm in (*ours, *theirs):
        assert (arm.prompts, arm.max_tokens, arm.together) == (PROMPTS[:20], 32, (16, 20))
        assert arm.exact
    assert all(arm.workers for arm in ours)
    assert not any(arm.workers or arm.calls or arm.keeps for arm in theirs)
    assert [arm.exchange for arm in theirs] == [False, True]
    assert not any(arm.exchange for arm in ours)


def test_what_the_baseline_needs_is_given_where_features_are_off_and_nowhere_else(
    lane: LaneEnv,
) -> None:
    asked = Asked(baseline={"cpu_offload_gb": 67.1, "max_model_len": 256})
    found = arms(lane, BANKS, asked=asked)
    off = found.pop("compiled.off").arm.engine
    pins = pin_arms(Budget(("compiled",)), BANKS, asked)
    for engine in (off, *(each.engine for each in pins)):
        assert (engine["cpu_offload_gb"], engine["max_model_len"]) == (67.1, 256)
    assert found
    assert all("cpu_offload_gb" not in each.arm.engine for each in found.values())


@pytest.mark.parametrize(
    ("boots", "modes", "off"),
    [
        (2, ["compiled"], False),
        (3, ["compiled"], True),
        (5, ["compiled"], True),
        (6, ["compiled", "eager"], True),
    ],
)
def test_boots_are_spent_on_the_lanes_own_mode_first(
    lane: LaneEnv, boots: int, modes: list[str], *, off: bool
) -> None:
    budget = Budget.of(boots, ("eager", "compiled"), BANKS)
    ours = lane_arms(budget, BANKS, lane, "cpu", DEFAULT, FOLDER)
    assert [*budget.modes] == modes
    assert {each.arm.name.partition(".")[2] for each in ours} == {
        *(["off"] if off else []),
        *("on", "swaps", "follows", "mapped"),
    }
    booted = [each.arm for each in ours if not each.arm.continues]
    booted += [arm for arm in pin_arms(budget, BANKS, DEFAULT) if not arm.continues]
    assert len(booted) <= boots
    assert any("off" in each for each in budget.fewer(("eager", "compiled"), BANKS)) != off


def test_a_lane_without_features_is_compared_within_two_boots(lane: LaneEnv) -> None:
    budget = Budget.of(2, ("eager", "compiled"), {"enforce_eager": True})
    ours = lane_arms(budget, {"enforce_eager": True}, lane, "cpu", DEFAULT, FOLDER)
    assert [each.arm.name for each in ours] == ["eager.off"]
    assert [*budget.fewer(("eager", "compiled"), {})] == ["within 2 boots only eager"]


def test_one_engine_is_switched_from_map_to_map(lane: LaneEnv) -> None:
    engine = {**BANKS, "moe_prefill_stage": "2", "moe_follow": "4"}
    budget = Budget.of(2, ("compiled",), engine)
    on, *later = lane_arms(budget, engine, lane, "cpu", DEFAULT, FOLDER)
    assert (on.arm.continues, on.arm.calls) == (False, (STAGED,))
    for each, last in zip(later, (FORCED, FOLLOWED, None), strict=True):
        assert each.arm.continues
        # What an arm before has begun ends.
        assert each.arm.calls == (STAGED, *STILL, *([last] if last else []))
    assert [each.swaps for each in later] == [True, True, False]
    assert ["moe_follow" in each.engine for each in later] == [False, True, False]
    assert [each.arm.maps for each in later] == [None, None, on.arm.keeps]
