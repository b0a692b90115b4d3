"""What the schema of records lets through of boots, proofs and equality."""

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from lanewright.serve.record import SCHEMA_FILE

SCHEMA = json.loads(SCHEMA_FILE.read_text())
PROOF: dict[str, Any] = {"feature": "x", "on": True, "facts": {"picks": 6}, "text": "6 = 6"}
FIRST: dict[str, Any] = {
    "number": 1,
    "prompt": "A",
    "index": 0,
    "what": "token",
    "baseline": 1,
    "other": None,
    "gap": 0.5,
}
ROW: dict[str, Any] = {"arm": "on", "role": "arm", "equal": 43, "prompts": 44, "first": FIRST}
FINISHED = "2026-12-01T08:13:22Z"
EQUALITY: dict[str, Any] = {
    "verdict": "differs",
    "baseline": "0" * 40,
    "tokens": 64,
    "fewer": [],
    "exchanged": "model.layers.1.mlp.experts",
    "modes": [{"mode": "eager", "verdict": "differs", "why": "on", "distinct": 300, "rows": [ROW]}],
    "proofs": {"eager.on": [PROOF], "eager.off": []},
    "resumed": {"eager.baseline": {"run": "20261201T081206Z-b464f5ad", "finished": FINISHED}},
}
ENGINE: dict[str, Any] = {
    "tactics": {"started": {}, "ended": {"every-engine/a.json": "0" * 64}},
    "graphs": {"up": 35, "ended": 35},
    "memory": {
        "weights": 2**38,
        "kv_cache": None,
        "kv_blocks": 17,
        "plan": {"hot_bank": 1, "kv_tokens_bought": None},
        "host_bank": {"mapped": 2**38, "resident": 2**38},
    },
}
BOOT: dict[str, Any] = {
    "seconds": {"import": 0.5},
    "completions": [
        {"prompt": "A", "ids": [1], "text": "", "prompt_tokens": 1, "cached_tokens": 0}
    ],
    "status": [{"plugin": True}],
    "usage": [None, {"tokens": 1}],
    "proofs": [PROOF],
    "log": "offline.log",
}

Change = Callable[[dict[str, Any]], object]


def valid(part: str, value: object) -> bool:
    """Whether a value is what ``$defs`` or the properties of a record say of ``part``."""
    schema = SCHEMA["properties"].get(part) or SCHEMA["$defs"][part]
    whole = {**schema, "$defs": SCHEMA["$defs"]}
    return bool(jsonschema.Draft202012Validator(whole).is_valid(value))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("equality", EQUALITY),
        ("equality", {**EQUALITY, "resumed": {}}),
        ("equality", {**EQUALITY, "tokens": 16, "fewer": ["16 of 64 tokens a prompt"]}),
        ("equality", {**EQUALITY, "verdict": "not compared"}),
        ("equality", {**EQUALITY, "engines": {"eager.on": ENGINE}}),
        (
            "equality",
            {**EQUALITY, "engines": {"eager.on": {**ENGINE, "graphs": None, "memory": None}}},
        ),
        ("equality", None),
        ("boot", BOOT),
    ],
)
def test_what_a_run_gives_is_let_through(part: str, value: object) -> None:
    assert valid(part, value)


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.update(verdict="perhaps"),
        lambda it: it.update(baseline="short"),
        lambda it: it.update(tokens=63),
        lambda it: it.update(tokens=0, fewer=["0 of 64 tokens a prompt"]),
        lambda it: it.pop("fewer"),
        lambda it: it.update(exchanged=None),
        lambda it: it.update(modes=[]),
        lambda it: it.update(surprise=1),
        lambda it: it.update(engines={"eager.on": {}}),
        lambda it: it.update(engines={"eager.on": {**ENGINE, "graphs": {"up": 3}}}),
        lambda it: it.update(
            engines={"eager.on": {**ENGINE, "tactics": {"started": {}, "ended": {"a": "1"}}}}
        ),
        lambda it: it.pop("proofs"),
        lambda it: it["modes"][0].update(mode="fast"),
        lambda it: it["modes"][0].update(verdict="passed"),
        lambda it: it["modes"][0].pop("distinct"),
        lambda it: it["modes"][0]["rows"][0].update(role="judge"),
        lambda it: it["modes"][0]["rows"][0].update(prompts=0),
        lambda it: it["modes"][0]["rows"][0].pop("first"),
        lambda it: it["modes"][0]["rows"][0]["first"].update(number=0),
        lambda it: it["modes"][0]["rows"][0]["first"].update(index=-1),
        lambda it: it["modes"][0]["rows"][0]["first"].update(what="guess"),
        lambda it: it["modes"][0]["rows"][0]["first"].update(gap="wide"),
        lambda it: it["proofs"]["eager.on"][0].pop("facts"),
        lambda it: it.pop("resumed"),
        lambda it: it["resumed"]["eager.baseline"].pop("run"),
        lambda it: it["resumed"]["eager.baseline"].update(finished="yesterday"),
    ],
)
def test_an_equality_that_is_none_is_refused(change: Change) -> None:
    changed = copy.deepcopy(EQUALITY)
    change(changed)
    assert not valid("equality", changed)


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.pop("usage"),
        lambda it: it.pop("proofs"),
        lambda it: it.update(usage=[1]),
        lambda it: it["completions"][0].pop("prompt_tokens"),
        lambda it: it["completions"][0].update(cached_tokens=-1),
        lambda it: it["proofs"][0].update(on="yes"),
        lambda it: it["proofs"][0]["facts"].update(picks=0.5),
        lambda it: it["proofs"][0]["facts"].update(picks=-1),
        lambda it: it["proofs"][0].update(more=1),
    ],
)
def test_a_boot_that_is_none_is_refused(change: Change) -> None:
    changed = copy.deepcopy(BOOT)
    change(changed)
    assert not valid("boot", changed)
