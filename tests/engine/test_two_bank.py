"""The lanes with two banks on real vLLM: whatever the map, they answer as their unpatched pins."""

import dataclasses
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lanewright.places import Places
from lanewright.serve.recipes import RECIPES
from tests.engine.conftest import Lane
from tests.serve.model_bytes import SHA256, digest

# A folder: what comparisons here finish is kept there, and an interrupted run's is not done again.
KEEP = "LANEWRIGHT_TEST_STATE"
ARMS = ("self", "off", "on", "swaps", "follows", "mapped")
TABLE = re.compile(r"\[equality\]\n(?:[^\[\n].*\n|\n)*")


@pytest.fixture
def kept(lane: Lane, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """The lane, with a state that outlives this run of the tests where that is asked for."""
    if folder := os.environ.get(KEEP):
        monkeypatch.setenv("LANEWRIGHT_STATE", str(Path(folder).absolute() / request.node.name))
    return lane


def lane_named(lane: Lane, name: str) -> Lane:
    return dataclasses.replace(lane, name=name)


def asked_less(lane: Lane, equality: str) -> None:
    """Ask a lane less than its series says."""
    text = lane.series.read_text()
    rest = TABLE.sub("", text)
    assert rest != text
    lane.series.write_text(
        rest.replace("[image]", f"{equality}\n[image]", 1)
        if "[image]" in rest
        else rest.replace("[[entry]]", f"{equality}\n[[entry]]", 1)
    )


def compared(lane: Lane, *arguments: str) -> dict[str, Any]:
    """Build and compare a lane; its record."""
    assert lane.run("build", lane.name) == 0
    assert lane.run("equal", lane.name, *arguments) == 0
    *_, record = lane.records()
    return record


def require_equal(record: dict[str, Any], modes: Sequence[str], together: int) -> None:
    """All arms are the baseline's in all answers, the exchanged experts' are not."""
    assert record["verdict"] == "passed"
    model = record["model"]
    assert digest(Places.of_user().models / model["name"]) == SHA256[model["recipe"]]
    found = {mode["mode"]: mode for mode in record["equality"]["modes"]}
    assert [*found] == [*modes]
    for mode in found.values():
        exchanged = require_alike(mode, together)
        assert exchanged["equal"] < exchanged["prompts"]


def require_alike(mode: dict[str, Any], together: int) -> dict[str, Any]:
    """All arms of a mode but the exchanged one are the baseline's in all answers; that one's row."""
    rows = {row["arm"]: row for row in mode["rows"]}
    exchanged: dict[str, Any] = rows.pop("exchanged")
    assert {*rows} == {name for arm in ARMS for name in (arm, f"{arm}, {together} at once")}
    assert all(row["equal"] == row["prompts"] for row in rows.values())
    return exchanged


def require_served(record: dict[str, Any], modes: Sequence[str]) -> None:
    """Both banks served every arm that has them, each pick once; swaps swapped."""
    recipe = RECIPES[record["model"]["recipe"]]
    layers = recipe.get("num_hidden_layers") or len(recipe["compress_ratios"])
    for mode in modes:
        for arm in ("on", "swaps", "follows", "mapped"):
            (proof,) = record["equality"]["proofs"][f"{mode}.{arm}"]
            facts = proof["facts"]
            assert proof["feature"] == "moe_hot_experts"
            assert facts["hot_picks"] + facts["cold_picks"] == facts["picks"]
            assert facts["picks"] == facts["tokens"] * layers * recipe["num_experts_per_tok"]
            assert min(facts["hot_picks"], facts["cold_picks"]) > 0
            assert (facts["swaps"] > 0, facts["bytes"] > 0) == ((arm in ("swaps", "follows")),) * 2
            assert facts["failed"] == 0
            assert facts["follows"] == (arm == "follows")
        still, other = (
            record["equality"]["proofs"][f"{mode}.{arm}"][0]["facts"]["hot_picks"]
            for arm in ("on", "mapped")
        )
        assert still != other


SHORT = """[equality]
prompts = 8
tokens = 24
distinct = 60
modes = ["eager"]
together = [8]
"""


# Of the lane whose every token takes a tenth of a second and more.
SHORTER = """[equality]
prompts = 2
tokens = 6
distinct = 8
modes = ["eager"]
together = [2]
"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("cpu-twobank", marks=pytest.mark.engine),
        # Packed weights beside their pin are in the shorter one, too.
        pytest.param("cpu-mxfp4", marks=pytest.mark.engine_full),
    ],
)
def test_short(lane: Lane, name: str) -> None:
    lane = lane_named(lane, name)
    asked_less(lane, SHORT)
    record = compared(lane)
    require_equal(record, ("eager",), 8)
    require_served(record, ("eager",))
    assert record["shims"] == (["mxfp4-without-amx"] if name == "cpu-mxfp4" else [])


@pytest.mark.engine
def test_shorter(lane: Lane) -> None:
    lane = lane_named(lane, "cpu-dsv4")
    # So few tokens pick no more experts of a layer than the lane has hot rows.
    lane.replace('moe_hot_experts = "295"', 'moe_hot_experts = "32"')
    asked_less(lane, SHORTER)
    assert lane.run("build", lane.name) == 0
    code = lane.run("equal", lane.name)
    *_, record = lane.records()
    (mode,) = record["equality"]["modes"]
    (exchanged,) = (row for row in mode["rows"] if row["arm"] == "exchanged")
    if code:
        # They may pick neither of the two experts that the control exchanges, and then it says nothing.
        assert code == 5
        assert exchanged["equal"] == exchanged["prompts"]
        only = "eager: inconclusive (exchanged, which must differ, is equal); "
        assert only in record["error"]["message"]
    require_alike(mode, 2)
    require_served(record, ("eager",))


@pytest.mark.engine_full
@pytest.mark.parametrize("name", ["cpu-twobank", "cpu-mxfp4"])
def test_whole(kept: Lane, name: str) -> None:
    record = compared(lane_named(kept, name), "--resume")
    modes = ("eager", "compiled")
    require_equal(record, modes, 16)
    require_served(record, modes)
    assert record["equality"]["tokens"] == 128
    assert not record["equality"]["fewer"]


@pytest.mark.engine_full
def test_deepseek_v4(kept: Lane) -> None:
    record = compared(lane_named(kept, "cpu-dsv4"), "--resume")
    require_equal(record, ("eager",), 4)
    require_served(record, ("eager",))
    (proof,) = record["equality"]["proofs"]["eager.on"]
    assert proof["facts"]["hot_rows"] == 295 * 3
    assert record["shims"] == ["mxfp4-without-amx", "triton-interpreter", "deepseek-v4-on-cpu"]


@pytest.mark.engine_full
@pytest.mark.parametrize("version", ["0.30.0", "0.31.0"])
def test_other_releases(kept: Lane, version: str) -> None:
    lane = lane_named(kept, "cpu-twobank")
    lane.pin(version)
    asked_less(lane, SHORT.replace('["eager"]', '["eager", "compiled"]'))
    record = compared(lane, "--resume")
    require_equal(record, ("eager", "compiled"), 8)
    require_served(record, ("eager", "compiled"))


@pytest.mark.engine_full
@pytest.mark.parametrize("hot", ["0", "16", "16,0,5,12", "position:8", "fit:2MiB"])
def test_any_number_of_hot_rows(lane: Lane, hot: str) -> None:
    lane = lane_named(lane, "cpu-twobank")
    lane.replace('moe_hot_experts = "12"', f'moe_hot_experts = "{hot}"')
    asked_less(lane, SHORT)
    assert lane.run("build", lane.name) == 0
    code = lane.run("equal", lane.name)
    (record,) = lane.records()
    if hot == "16":
        assert code == 5
        assert "no pick was served from the cold bank" in record["error"]["message"]
    else:
        assert code == 0
        require_equal(record, ("eager",), 8)
