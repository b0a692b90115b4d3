"""The proof of the seams: another source than the lane names, or one never entered, fails by name."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lanewright.errors import LanewrightError, MismatchError
from lanewright.queue.series import Series
from lanewright.queue.series_model import ModelSpec
from lanewright.queue.use.seams import SEAMS_FILE
from lanewright.serve.boot import Completion
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence
from lanewright.serve.proof import prove
from lanewright.serve.seams import named_seams, require_switched

BANKS = {"moe_hot_experts": "2"}
NAMED = {
    "RowTable": {"from": "96177", "adapter": "56177"},
    "HostRows": {"from": "97943", "adapter": "57943"},
    "PrefillStage": {"from": "92060", "adapter": "92060"},
}
SERVED = {
    "RowTable": {"from": "96177", "calls": 12},
    "RowCopy": {"from": "own", "calls": 4},
    "HostRows": {"from": "97943", "calls": 6},
}


@pytest.fixture
def lane(tmp_path: Path) -> LaneEnv:
    """A lane whose tree names two pull requests at seams of the two banks."""
    file = tmp_path / "site" / SEAMS_FILE
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(NAMED))
    return LaneEnv(tmp_path / "python", tmp_path / "site", tmp_path / "pyc")


SWAPPED = {"barriers": 1, "swaps": 2, "bytes": 128}
UNSWAPPED = {"barriers": 0, "swaps": 0, "bytes": 0}


def evidence(moved: Mapping[str, int] = SWAPPED, **changed: Any) -> Evidence:  # noqa: ANN401
    """Of two layers, whose tokens pick two of three experts; a seam that is None is not told of."""
    seams = {name: found for name, found in {**SERVED, **changed}.items() if found is not None}
    status = {"plugin": True, "pid": 42, "experts": [], "ops": True, "moe_usage_counter": False}
    status |= {"prefetch_copies": None}
    banks = {
        "audit": [], "hot_rows": [2, 2], "hot_picks": 20, "cold_picks": 8, "row_bytes": [64, 64],
        "failed": 0, "seconds": 0.5, "failures": [], "seams": seams, **moved,
    }  # fmt: skip
    usage = {"model": "m", "layers": ["a", "b"], "picks_per_token": 2, "tokens": 7}
    return Evidence(
        status=({**status, "moe_hot_experts": "2"},),
        usage=({**usage, "counts": [[7, 7, 0], [0, 7, 7]]},),
        completions=(Completion("a", (1, 2, 3), "", prompt_tokens=5, cached_tokens=0),),
        moe=({"layers": 2, "experts": 3, "picks_per_token": 2},),
        banks=(banks,),
    )


def refused(lane: LaneEnv, moved: Mapping[str, int] = SWAPPED, **changed: Any) -> str:  # noqa: ANN401
    with pytest.raises(MismatchError) as caught:
        prove(lane, BANKS, evidence(moved, **changed), "a boot")
    start = "a boot: moe_hot_experts: worker 42: "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


def test_what_served_is_told_with_its_entries(lane: LaneEnv) -> None:
    (proof,) = prove(lane, BANKS, evidence(), "a boot")
    calls = {name: proof.facts[f"{name}_calls"] for name in SERVED}
    assert calls == {"RowTable": 12, "RowCopy": 4, "HostRows": 6}
    assert proof.text.endswith(
        "; RowTable #96177, entered 12 times; RowCopy own, entered 4 times;"
        " HostRows #97943, entered 6 times"
    )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"RowTable": {"from": "96177", "calls": 0}},
            (
                "the lane names #96177 at RowTable, and its code was never entered; the entries of 2"
                " layers and 2 swaps take 4"
            ),
        ),
        (
            {"RowTable": {"from": "96177", "calls": 3}},
            (
                "the lane names #96177 at RowTable, and its code was entered 3 times; the entries of 2"
                " layers and 2 swaps take 4"
            ),
        ),
        (
            {"RowCopy": {"from": "own", "calls": 0}},
            (
                "the lane names own at RowCopy, and its code was never entered; 128 bytes of rows that"
                " moved take 2"
            ),
        ),
        (
            {"RowCopy": {"from": "own", "calls": 1}},
            (
                "the lane names own at RowCopy, and its code was entered 1 times; 128 bytes of rows that"
                " moved take 2"
            ),
        ),
        (
            {"HostRows": {"from": "97943", "calls": 0}},
            "the lane names #97943 at HostRows, and its code was never entered; the cold rows take 1",
        ),
        (
            {"HostRows": {"from": "own", "calls": 6}},
            "the lane names #97943 at HostRows, and own served it",
        ),
        ({"HostRows": None}, "the lane names #97943 at HostRows, and nothing served it"),
        (
            {"RowCopy": {"from": "96177", "calls": 4}},
            "the lane names own at RowCopy, and #96177 served it",
        ),
    ],
)
def test_what_is_not_as_the_lane_names_it_fails(
    lane: LaneEnv, changed: dict[str, Any], told: str
) -> None:
    assert told in refused(lane, **changed)


def test_a_lane_that_swaps_nothing_proves_no_copy(lane: LaneEnv) -> None:
    idle: dict[str, Any] = {
        "RowTable": {"from": "96177", "calls": 2},
        "RowCopy": {"from": "own", "calls": 0},
    }
    (proof,) = prove(lane, BANKS, evidence(UNSWAPPED, **idle), "a boot")
    assert proof.facts["RowCopy_calls"] == 0
    assert "; RowCopy own, not asked to copy;" in proof.text
    unfilled: dict[str, Any] = {**idle, "RowTable": {"from": "96177", "calls": 1}}
    told = refused(lane, UNSWAPPED, **unfilled)
    assert "entered 1 times; the entries of 2 layers and 0 swaps take 2" in told


def test_every_worker_must_have_entered_it(lane: LaneEnv) -> None:
    one, other = evidence(), evidence(RowTable={"from": "96177", "calls": 0})
    two = {
        field: getattr(one, field) + getattr(other, field)
        for field in ("status", "usage", "moe", "banks")
    }
    with pytest.raises(MismatchError, match="never entered"):
        prove(lane, BANKS, dataclasses.replace(one, **two), "a boot")


def test_a_tree_without_the_file_is_served_by_our_own(lane: LaneEnv) -> None:
    (lane.site / SEAMS_FILE).unlink()
    assert named_seams(lane) == {}
    assert "the lane names own at HostRows, and #97943 served it" in refused(lane)
    own: dict[str, Any] = {name: {"from": "own", "calls": 4} for name in SERVED}
    assert prove(lane, BANKS, evidence(**own), "a boot")


@pytest.mark.parametrize("content", ["", "[3]", '{"RowTable": "56177"}', '{"RowTable": {}}'])
def test_a_file_that_names_none_is_refused(lane: LaneEnv, content: str) -> None:
    (lane.site / SEAMS_FILE).write_text(content)
    with pytest.raises(MismatchError, match=r"seams\.json names no pull requests at seams"):
        prove(lane, BANKS, evidence(), "a boot")


def series(engine: dict[str, Any], **seams: str) -> Series:
    return Series(
        title="t", device="cpu", pin="p", model=ModelSpec(recipe="r"), engine=engine, seams=seams
    )


def test_what_is_named_and_cannot_be_entered_is_refused_before_a_boot() -> None:
    with pytest.raises(LanewrightError) as caught:
        require_switched(series({}, RowTable="56177", HostRows="own", PrefillStage="1"), "a lane")
    assert str(caught.value) == (
        "a lane: RowTable: nothing enters what is named while moe_hot_experts is off"
    )
    require_switched(series({}, RowTable="own", PrefillStage="62060"), "a lane")
    require_switched(series(BANKS, RowTable="56177"), "a lane")
