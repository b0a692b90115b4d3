"""Every way in which a proof of effect can fail, by name."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanewright.serve.boot import Completion
from lanewright.serve.environment import LaneEnv
from lanewright.serve.evidence import Evidence, Proof
from lanewright.serve.features import FEATURES
from lanewright.serve.proof import PATCHES, PROVERS, prove
from tests.serve.workers import (
    ANSWERS,
    MOE,
    OURS,
    THEIRS,
    TOKENS,
    banks,
    off,
    on,
    refusal,
    refused,
    rows,
    status,
    usage,
    whole,
)

ROOT = Path(__file__).parents[2]
ON = {"moe_usage_counter": True}


def test_on_is_proven_by_two_sums(lane: LaneEnv) -> None:
    assert prove(lane, ON, on(), "a boot") == (
        Proof(
            "moe_usage_counter",
            on=True,
            facts={
                "workers": 1,
                "picks": 56,
                "tokens": 14,
                "picks_per_token": 2,
                "layers": 2,
                "tokens_by_answers": 14,
            },
            text="56 picks = 14 scheduled tokens x 2 experts x 2 layers;"
            " prompt + output - 1 - cached = 14 tokens",
        ),
    )


@pytest.mark.parametrize("engine", [{}, {"moe_usage_counter": False}])
def test_off_is_proven_too(lane: LaneEnv, engine: dict[str, object]) -> None:
    (proof,) = prove(lane, engine, off(), "a boot")
    assert (proof.on, proof.facts) == (False, {"workers": 1})
    assert proof.text.startswith("off: every MoE layer's class is vLLM's own")


@pytest.mark.parametrize("name", FEATURES)
def test_a_tree_without_the_hook_patch_is_off(lane: LaneEnv, name: str) -> None:
    (proof,) = prove(lane, {}, off(**{name: None}), "a boot")
    assert not proof.on


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        (on(status=(), usage=()), "no worker answered expert_bank_status"),
        (on(status=(status(on=True, plugin=False),)), "did not load its plugin in worker 42"),
        (on(status=(status(on=True, moe_usage_counter=False),)), "True, and worker 42 has False"),
        (on(status=(status(on=True, moe_usage_counter=None),)), "True, and worker 42 has None"),
        (on(usage=(None,)), f"on and proves nothing: worker 42 counts nothing.* are {OURS}"),
        (on(usage=(None,), status=(status(on=True, experts=[]),)), "its MoE layers are none"),
        (on(usage=(usage(counts=[[0], [0]]),)), "proves nothing: worker 42 counted no pick at all"),
        (
            on(usage=(usage(counts=[[14, 14, 0], [1, 14, 14]]),)),
            "counted 57 picks, and 14 scheduled .* are 56",
        ),
        (
            on(usage=(usage(counts=[[14, 14, 0], [0, 13, 14]]),)),
            "counted 55 picks, and 14 scheduled .* are 56",
        ),
        (
            on(usage=(usage(picks_per_token=3),)),
            "14 scheduled tokens x 3 experts x 2 layers are 84",
        ),
        (on(usage=(usage(layers=["a"]),)), "14 scheduled tokens x 2 experts x 1 layers are 28"),
        (on(usage=(usage(tokens=13, counts=rows(13)),)), "scheduled 13 tokens, and by .* are 14"),
        (on(usage=(usage(tokens=15, counts=rows(15)),)), "scheduled 15 tokens, and by .* are 14"),
        (on(usage=(usage(counts=[[14, 14, 14], [0, 0, 14]]),)), "counted 42 picks in a, and 14"),
        (on(usage=(usage(counts=[[14, 14, 0], [28, 0, 0]]),)), "counted an expert of b more often"),
        (on(usage=(usage(counts=[[14, 14, 0], [15, -1, 14]]),)), "or less than never"),
        (on(moe=({**MOE, "layers": 3},)), "counts {'layers': 2, .* its model has {'layers': 3"),
        (on(moe=({**MOE, "experts": 4},)), "'experts': 3, .* 'experts': 4"),
        (on(usage=()), "1 workers told their status, and 0 their usage"),
        (on(banks=(None, None)), "1 workers told their status, and 2 their banks"),
        (
            on(status=({"plugin": True, "pid": 42},)),
            "status lacks experts, moe_hot_experts, moe_usage_counter, ops",
        ),
        (on(banks=(banks(),)), "moe_hot_experts is off, and worker 42 serves from two banks"),
        (
            on(status=(status(on=True, moe_hot_experts="2"),)),
            "moe_hot_experts was asked to be False, and worker 42 has 2",
        ),
        (on(completions=ANSWERS[:1]), "scheduled 14 tokens, and by .* they are 7"),
    ],
)
def test_on_is_refused(lane: LaneEnv, evidence: Evidence, told: str) -> None:
    message = refused(lane, ON, evidence)
    assert re.search(told, message), message


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        (off(plugin=False), "did not load its plugin in worker 42"),
        (off(moe_usage_counter=True), "asked to be False, and worker 42 has True"),
        (off(experts=[THEIRS, OURS]), f"its MoE layers are {THEIRS}, {OURS}; op registered: False"),
        (off(ops=True), "op registered: True; counting: False"),
        (dataclasses.replace(off(), usage=(usage(),)), "op registered: False; counting: True"),
        (dataclasses.replace(off(), banks=(banks(),)), "and worker 42 serves from two banks"),
        (dataclasses.replace(off(), banks=()), "1 workers told their status, and 0 their banks"),
    ],
)
def test_off_is_refused(lane: LaneEnv, evidence: Evidence, told: str) -> None:
    assert told in refused(lane, {}, evidence)


def test_a_plugin_that_is_not_loaded_says_where_to_look(lane: LaneEnv) -> None:
    assert "entry_points.txt" in str(refusal(lane, {}, off(plugin=False)).hint)


def test_every_worker_must_prove_it(lane: LaneEnv) -> None:
    two = (status(on=True, pid=1), status(on=True, pid=2))
    (proof,) = prove(lane, ON, on(status=two, usage=(usage(), usage())), "a boot")
    assert (proof.facts["workers"], proof.facts["layers"]) == (2, 2)
    assert proof.facts["picks"] == TOKENS * 2 * 2
    assert "worker 2 counts nothing" in refused(lane, ON, on(status=two, usage=(usage(), None)))
    wrong = on(status=two, usage=(usage(), usage(tokens=13, counts=rows(13))))
    assert "worker 2 was scheduled 13" in refused(lane, ON, wrong)
    half = (status(on=False, pid=1), status(on=False, pid=2, ops=True))
    assert "worker 2 is not" in refused(lane, {}, whole(Evidence(half, (None, None), ANSWERS)))


def test_workers_may_hold_layers_of_their_own(lane: LaneEnv) -> None:
    workers = (status(on=True, pid=1), status(on=True, pid=2))
    second = usage(layers=["c"], counts=[[TOKENS, TOKENS, 0]])
    moe = (MOE, {**MOE, "layers": 1})
    (proof,) = prove(lane, ON, on(status=workers, usage=(usage(), second), moe=moe), "a boot")
    assert (proof.facts["layers"], proof.facts["picks"]) == (3, TOKENS * 2 * 3)


def test_every_feature_has_a_proof_and_a_patch() -> None:
    assert {*PROVERS} == {*FEATURES}
    assert {*PATCHES} == {*FEATURES}
    assert all((ROOT / patch).is_file() for patch in PATCHES.values())


def test_without_the_overlay_nothing_is_proven_and_nothing_may_be_on(tmp_path: Path) -> None:
    bare = LaneEnv(tmp_path / "python", tmp_path / "site", tmp_path / "pyc")
    nothing = Evidence((), (), ANSWERS)
    assert prove(bare, {}, nothing, "a boot") == ()
    assert prove(bare, {"moe_usage_counter": False}, nothing, "a boot") == ()
    assert "without the expert_bank overlay nothing can" in refused(bare, ON, nothing)


@pytest.mark.parametrize("tokens", [TOKENS, TOKENS + 3])
def test_drafts_may_only_add_tokens(lane: LaneEnv, tokens: int) -> None:
    engine = {**ON, "speculative_config": {"method": "ngram"}}
    found = usage(tokens=tokens, counts=rows(tokens))
    (proof,) = prove(lane, engine, on(usage=(found,)), "a boot")
    assert proof.facts["tokens"] == tokens
    assert proof.text.endswith("= 14 tokens, the rest drafts")
    fewer = usage(tokens=TOKENS - 1, counts=rows(TOKENS - 1))
    assert "scheduled 13 tokens" in refused(lane, engine, on(usage=(fewer,)))


@given(
    counts=st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), min_size=1, max_size=3),
    k=st.integers(1, 3),
    tokens=st.integers(0, 200),
)
def test_only_exact_sums_prove_anything(
    tmp_path_factory: pytest.TempPathFactory, counts: list[list[int]], k: int, tokens: int
) -> None:
    site = tmp_path_factory.getbasetemp() / "site-of-sums"
    (site / "expert_bank").mkdir(parents=True, exist_ok=True)
    lane = LaneEnv(site, site, site)
    answer = Completion("a", (1,), "", prompt_tokens=tokens, cached_tokens=0)
    layers = [str(number) for number in range(len(counts))]
    found = {"layers": layers, "picks_per_token": k, "tokens": tokens, "counts": counts}
    evidence = Evidence((status(on=True),), (found,), (answer,), banks=(None,))
    picks = sum(map(sum, counts))
    if picks and all(sum(row) == tokens * k and max(row) <= tokens for row in counts):
        prove(lane, ON, evidence, "a boot")
    else:
        assert refused(lane, ON, evidence)
