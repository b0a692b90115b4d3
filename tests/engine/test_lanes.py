"""The lanes with packed experts on real vLLM: shims hold, answers repeat, exchanged rows show."""

import dataclasses
from typing import Any

import pytest

from lanewright.places import Places
from lanewright.serve.recipes import RECIPES
from tests.engine.conftest import Lane
from tests.serve.model_bytes import SHA256, digest

pytestmark = pytest.mark.engine


def booted(lane: Lane, name: str) -> dict[str, Any]:
    """Build and compare a lane in eager mode; its record."""
    lane = dataclasses.replace(lane, name=name)
    assert lane.run("build", name) == 0
    assert lane.run("equal", name, "--mode", "eager") == 0
    (record,) = lane.records()
    return record


def require_sound(record: dict[str, Any], prompts: int) -> None:
    """Self control and lane are the baseline's in all answers, the exchanged experts' not in all."""
    assert record["verdict"] == "passed"
    model = record["model"]
    assert digest(Places.of_user().models / model["name"]) == SHA256[model["recipe"]]
    (mode,) = record["equality"]["modes"]
    equal = {row["arm"]: (row["equal"], row["prompts"]) for row in mode["rows"]}
    exchanged, asked = equal.pop("exchanged")
    assert asked == prompts
    assert exchanged < asked
    assert equal == dict.fromkeys(("self", "off", "on"), (prompts, prompts))


def require_counted(record: dict[str, Any]) -> None:
    """The counter's picks are those of the answers."""
    (proof,) = record["equality"]["proofs"]["eager.on"]
    assert proof["on"]
    model = RECIPES[record["model"]["recipe"]]
    layers = model.get("num_hidden_layers") or len(model["compress_ratios"])
    facts = proof["facts"]
    assert facts["picks"] == facts["tokens"] * layers * model["num_experts_per_tok"] > 0


def test_mxfp4(lane: Lane) -> None:
    less = '[equality]\nprompts = 12\ntokens = 32\ndistinct = 150\nmodes = ["eager"]\n\n[engine]\n'
    mxfp4 = dataclasses.replace(lane, name="cpu-mxfp4")
    mxfp4.replace("[engine]\n", less)
    record = booted(lane, "cpu-mxfp4")
    require_sound(record, 12)
    require_counted(record)
    assert record["shims"] == ["mxfp4-without-amx"]


def test_deepseek_v4(lane: Lane) -> None:
    record = booted(lane, "cpu-dsv4")
    require_sound(record, 8)
    require_counted(record)
    assert record["shims"] == ["mxfp4-without-amx", "triton-interpreter", "deepseek-v4-on-cpu"]
    assert record["equality"]["fewer"]
