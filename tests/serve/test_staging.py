"""Every way in which the proof of prefill staging can fail, by name; and the prompt it is proven with."""

from collections.abc import Mapping
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.asking import LONGEST, boot_prompts
from lanewright.serve.boot import PROMPTS
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.length import LEAST, ROOM
from lanewright.serve.proof import prove
from tests.serve.workers import ANSWERS, banks, status, usage, whole

ON = {"moe_hot_experts": "2", "moe_prefill_stage": "2"}
REFUSED = {
    "decode": 4,
    "switched_off": 0,
    "captured": 0,
    "below_threshold": 1,
    "failed": 0,
    "unfilled": 0,
}
# Two layers with a cold row of 96 bytes each, seven forwards.
HONEST = {
    "steps": 2,
    "tokens": 9,
    "rows": 4,
    "bytes": 384,
    "late": 1,
    "failed": 0,
    "refused": REFUSED,
    "least_tokens": 5,
    "slots": {"0": 1, "1": 1},
    "off": "",
}


def proven(lane: LaneEnv, staging: Any, engine: Mapping[str, object] = ON) -> Proof:  # noqa: ANN401 - JSON
    worker = status(on=True) | {"moe_usage_counter": False, "moe_hot_experts": "2"}
    evidence = Evidence((worker,), (usage(),), ANSWERS, banks=(banks(staging=staging),))
    (proof,) = prove(lane, engine, whole(evidence), "a boot")
    return proof


def test_it_is_proven_by_what_was_staged_and_what_was_not(lane: LaneEnv) -> None:
    proof = proven(lane, HONEST)
    assert proof.facts["staged"] == 384
    assert (
        "; 2 steps with 9 tokens staged 4 cold rows, 384 bytes, 1 of the rows late; 4 decode, 1"
        " below_threshold steps in place" in proof.text
    )


def test_without_it_nothing_is_told(lane: LaneEnv) -> None:
    proof = proven(lane, None, {"moe_hot_experts": "2"})
    assert "staged" not in proof.facts
    assert "staged" not in proof.text


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (None, "on and proves nothing: there is no staging buffer"),
        ({"off": "a layer has 9 cold rows"}, "on and proves nothing: a layer has 9 cold rows"),
        (
            {"steps": 0, "rows": 0, "bytes": 0},
            r"nothing: no step was staged \(4 decode, 1 below_threshold steps\); the bytes want 5",
        ),
        (
            {"steps": 0, "rows": 0, "bytes": 0, "least_tokens": None},
            "the bytes want more than any number of tokens",
        ),
        ({"bytes": 383}, "2 steps staged 4 rows and 383 bytes; each layer's cold rows once are 4"),
        ({"rows": 5}, "2 steps staged 5 rows and 384 bytes"),
        (
            {"steps": 1, "rows": 2, "bytes": 192},
            "1 steps were staged and 5 refused, and there were 7",
        ),
        (
            {"refused": {**REFUSED, "decode": 0, "captured": 4}},
            "on and proves nothing: no step was a decode step",
        ),
    ],
)
def test_on_is_refused(lane: LaneEnv, changed: dict[str, Any] | None, told: str) -> None:
    with pytest.raises(MismatchError, match=told) as caught:
        proven(lane, None if changed is None else {**HONEST, **changed})
    assert "moe_prefill_stage" in str(caught.value)


def test_off_is_refused_where_there_is_a_buffer(lane: LaneEnv) -> None:
    with pytest.raises(
        MismatchError, match="moe_prefill_stage is off, and there is a staging buff"
    ):
        proven(lane, HONEST, {"moe_hot_experts": "2"})


def test_a_boot_asks_one_long_prompt_more_that_fits() -> None:
    assert boot_prompts({}) == boot_prompts({"moe_hot_experts": "2"}) == PROMPTS
    *short, long = boot_prompts({**ON, "max_model_len": 4608})
    assert tuple(short) == PROMPTS
    # As many tokens as characters, where a tokenizer has bytes.
    assert len(long) == len(long.encode()) == 4608 - LEAST - ROOM
    assert len(set(long.split(". "))) > 50
    assert len(boot_prompts(ON)[-1]) == LONGEST
    assert len(boot_prompts({**ON, "max_model_len": 90})[-1]) == 90 - LEAST - ROOM
    assert len(boot_prompts({**ON, "max_model_len": 16})[-1]) == 1
