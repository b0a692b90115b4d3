"""Drafts beside the two banks: by a model, whose experts stay resident, and by earlier tokens."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from lanewright.serve.equality.arms import FOLLOWED
from tests.engine.counting import K, routed_tokens, thrown_away
from tests.engine.lane_python import Laid

LAYERS = 4
RESIDENT, STILL, SWAPPED = "resident", "still", "swapped"
# Of engines whose drafts are taken from earlier tokens.
NGRAM, NGRAM_FOLLOWS = "ngram", "ngram_follows"
FOLLOW = [FOLLOWED[0], *FOLLOWED[1]]
# Who drafts, and which engines that is; earlier tokens do in ``test_ngram_follows.py``, too.
MODEL, EARLIER = "model", "earlier"
DRAFTED = {
    MODEL: ((RESIDENT, STILL, SWAPPED), pytest.mark.engine),
    EARLIER: ((NGRAM, NGRAM_FOLLOWS), pytest.mark.engine_full),
}


def drafted(*names: str) -> pytest.MarkDecorator:
    """Parametrise over engines; those that one drafts for are made together."""
    cases = [
        pytest.param(by, name, id=name, marks=tier)
        for by, (engines, tier) in DRAFTED.items()
        for name in engines
        if name in names
    ]
    return pytest.mark.parametrize(("found", "name"), cases, indirect=["found"], scope="module")


@pytest.fixture(scope="module")
def found(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """What engines answered and drafted: without banks, with them, and with swaps all along."""
    lane = laid("0.32.0", "cpu-twobank")
    draft = {"method": "draft_model", "model": str(lane.model), "num_speculative_tokens": 3}
    engine = {
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "moe_usage_counter": None,
        "speculative_config": draft,
    }
    banked = {**engine, "moe_hot_experts": "12"}
    earlier = {
        "method": "ngram",
        "num_speculative_tokens": 3,
        "prompt_lookup_min": 1,
        "prompt_lookup_max": 4,
    }
    jobs: list[dict[str, Any]] = [
        {"name": RESIDENT, "engine": engine, "call": None},
        {"name": STILL, "engine": banked, "call": None},
        {"name": SWAPPED, "engine": banked, "call": ["expert_bank_force", 4, 2, 7]},
        {"name": NGRAM, "engine": {**engine, "speculative_config": earlier}, "call": None},
        {
            "name": NGRAM_FOLLOWS,
            "engine": {**banked, "speculative_config": earlier},
            "call": FOLLOW,
        },
    ]
    engines, _ = DRAFTED[request.param]
    jobs = [job for job in jobs if job["name"] in engines]
    folder = tmp_path_factory.mktemp("drafts")
    found = lane.run_jobs("bank_drafts.py", jobs, folder=folder)
    log = (folder / "bank_drafts.py.log").read_text()
    _, *told = re.split(r"^arm (\w+): starts$", log, flags=re.MULTILINE)
    for name, lines in zip(told[::2], told[1::2], strict=True):
        found[name]["named"] = re.findall(
            r"expert_bank: (\S+) is a draft model's, and stays", lines
        )
    return found


@drafted(STILL, SWAPPED)
def test_layers_of_a_draft_are_named_and_have_no_banks(found: dict[str, Any], name: str) -> None:
    facts = found[name]
    assert facts["banks"]["resident"] == [*facts["layers"]]
    assert [*facts["layers"].values()] == [None] * LAYERS
    assert facts["named"] == [*facts["layers"]]
    assert len(facts["banks"]["hot_rows"]) == LAYERS


@drafted(RESIDENT, STILL, SWAPPED)
def test_every_layer_of_the_draft_ran_and_its_guesses_were_taken(
    found: dict[str, Any], name: str
) -> None:
    facts = found[name]
    assert len(facts["ran"]) == LAYERS
    assert min(facts["ran"].values()) > 0
    assert 0 < facts["drafts"]["taken"] < facts["drafts"]["scheduled"]


@drafted(STILL, SWAPPED, NGRAM_FOLLOWS)
def test_answers_and_drafts_are_those_without_banks(found: dict[str, Any], name: str) -> None:
    ours, theirs = found[name], found[NGRAM if name == NGRAM_FOLLOWS else RESIDENT]
    assert (theirs["banks"], theirs["named"]) == (None, [])
    for fact in ("ids", "bits", "drafts", "ran"):
        assert ours[fact] == theirs[fact], fact
    assert ours["banks"]["audit"] == []
    assert ours["banks"]["cold_picks"] > 0
    assert (ours["banks"]["swaps"] > 0) == (name != STILL)


@drafted(STILL, SWAPPED, NGRAM_FOLLOWS)
def test_drafts_that_were_thrown_away_are_counted_as_picks(
    found: dict[str, Any], name: str
) -> None:
    facts = found[name]
    drafts = facts["drafts"]
    assert 0 < drafts["taken"] < drafts["scheduled"]
    tokens = routed_tokens(facts) + thrown_away(facts)
    assert tokens > routed_tokens(facts)
    picks = facts["banks"]["hot_picks"] + facts["banks"]["cold_picks"]
    assert picks == tokens * K * LAYERS
    assert facts["banks"]["failed"] == 0


@drafted(NGRAM_FOLLOWS)
def test_the_map_followed_what_was_drafted_too(found: dict[str, Any], name: str) -> None:
    told = found[name]["banks"]
    follows = told["follows"]
    assert follows["decisions"] == told["forwards"] // follows["every"] > 0
    assert follows["ended"] == ""
    assert told["swaps"] > 0
    assert told["bytes"] > 0
