"""Drafts are routed as they are verified, so they are counted; what drafts them is not.

vLLM 0.30.0 has no sampler for drafts on a CPU without Triton, with or without the counter.
"""

from collections.abc import Callable
from typing import Any

import pytest

from lanewright.errors import MismatchError
from lanewright.serve.boot import Completion
from lanewright.serve.evidence import Evidence
from lanewright.serve.proof import prove
from tests.engine.counting import EXPERTS, LAYERS, K, routed_tokens, thrown_away
from tests.engine.lane_python import COUNTING, Laid

pytestmark = pytest.mark.engine

PIN = "0.32.0"
DRAFTED = {"num_speculative_tokens": 3}
# From earlier tokens alone, and by a model: the served one once more.
METHODS: dict[str, dict[str, object]] = {
    "ngram": {**DRAFTED, "method": "ngram", "prompt_lookup_min": 1, "prompt_lookup_max": 4},
    "draft_model": {**DRAFTED, "method": "draft_model"},
}
over_methods = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def found(laid: Callable[[str], Laid], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every method drafted and every engine counted."""
    lane = laid(PIN)
    drafting = {"draft_model": {"model": str(lane.model)}}
    jobs = [
        {
            "name": method,
            "engine": {
                "enforce_eager": True,
                "speculative_config": {**config, **drafting.get(method, {})},
            },
        }
        for method, config in METHODS.items()
    ]
    return lane.run_jobs("speculative.py", jobs, folder=tmp_path_factory.mktemp("speculative"))


@over_methods
def test_drafts_are_taken_and_thrown_away(found: dict[str, Any], method: str) -> None:
    drafts = found[method]["drafts"]
    assert 0 < drafts["taken"] < drafts["scheduled"], drafts


@over_methods
def test_every_scheduled_pick_is_counted_drafts_too(found: dict[str, Any], method: str) -> None:
    facts = found[method]
    tokens = routed_tokens(facts) + thrown_away(facts)
    assert tokens > routed_tokens(facts)
    assert facts["steps"]["preempted"] == 0
    assert facts["tokens"] == facts["steps"]["tokens"] == tokens
    assert [sum(row) for row in facts["counts"]] == [tokens * K] * LAYERS


@over_methods
def test_every_expert_is_counted_as_vllm_captures_it(found: dict[str, Any], method: str) -> None:
    facts = found[method]
    assert facts["counts"] == facts["routed"][:LAYERS]
    assert len(facts["counts"][0]) == EXPERTS


def test_layers_of_a_draft_model_run_and_are_not_counted(found: dict[str, Any]) -> None:
    facts = found["draft_model"]
    (bound,) = facts["draft_layers"]
    assert list(bound.values()) == [False] * LAYERS
    drafting = facts["routed"][LAYERS:]
    assert [sum(row) > 0 for row in drafting] == [True] * LAYERS
    assert [len(worker["layers"]) for worker in facts["usage"]] == [LAYERS]
    assert found["ngram"]["draft_layers"] == [{}]


@over_methods
def test_proof_allows_more_than_the_answers_say_only_with_drafts(
    laid: Callable[[str], Laid], found: dict[str, Any], method: str
) -> None:
    facts, env = found[method], laid(PIN).lane.env
    evidence = Evidence(
        tuple(facts["status"]),
        tuple(facts["usage"]),
        tuple(
            Completion("", tuple(each["ids"][0]), "", each["prompt"], each["cached"])
            for each in facts["asked"]
        ),
        ({"layers": LAYERS, "experts": EXPERTS, "picks_per_token": K},),
        banks=(None,) * len(facts["status"]),
    )
    (proof,) = prove(env, {**COUNTING, "speculative_config": METHODS[method]}, evidence, "a boot")
    assert proof.facts["tokens"] == facts["tokens"]
    assert proof.facts["tokens_by_answers"] == routed_tokens(facts)
    assert proof.facts["picks"] == facts["tokens"] * K * LAYERS
    told = f"scheduled {facts['tokens']} tokens, and by the answers .* {routed_tokens(facts)}"
    with pytest.raises(MismatchError, match=told):
        prove(env, COUNTING, evidence, "a boot")
