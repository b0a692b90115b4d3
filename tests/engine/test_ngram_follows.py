"""Drafts of earlier tokens beside a map that follows traffic: answers are those without banks."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lanewright.serve.equality.arms import FOLLOWED
from tests.engine.counting import LAYERS, K, routed_tokens, thrown_away
from tests.engine.lane_python import Laid

EARLIER = {
    "method": "ngram",
    "num_speculative_tokens": 3,
    "prompt_lookup_min": 1,
    "prompt_lookup_max": 4,
}
SHORT = {"prompts": 8, "tokens": 24, "together": 4}
LONG = {"prompts": 44, "tokens": 128, "together": 16}
# Packed weights amid swaps are in ``test_two_bank_faults.py``, too.
SHORTEST = "cpu-twobank", SHORT
PLAIN, FOLLOWS = "plain", "follows"
Found = Mapping[str, Any]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            (lane, size),
            id=f"{lane}-{name}",
            marks=pytest.mark.engine if (lane, size) == SHORTEST else pytest.mark.engine_full,
        )
        for lane in ("cpu-twobank", "cpu-mxfp4")
        for name, size in (("short", SHORT), ("long", LONG))
    ],
)
def case(
    request: pytest.FixtureRequest,
    laid: Callable[..., Laid],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Mapping[str, int], Mapping[str, Found]]:
    """How much was asked, and what engines without and with banks answered."""
    name, size = request.param
    lane = laid("0.32.0", name)
    engine = {
        "enforce_eager": True,
        "enable_prefix_caching": False,
        "moe_usage_counter": None,
        "speculative_config": EARLIER,
    }
    banked = {**engine, "moe_hot_experts": "12", "moe_cold_rows": lane.lane.engine["moe_cold_rows"]}
    jobs = [
        {"name": PLAIN, "engine": engine, "call": None, **size},
        {"name": FOLLOWS, "engine": banked, "call": [FOLLOWED[0], *FOLLOWED[1]], **size},
    ]
    folder = tmp_path_factory.mktemp("ngram")
    return size, lane.run_jobs("ngram_drafts.py", jobs, folder=folder)


def test_answers_and_drafts_are_those_without_banks(
    case: tuple[Mapping[str, int], Mapping[str, Found]],
) -> None:
    size, found = case
    ours, theirs = found[FOLLOWS], found[PLAIN]
    assert theirs["banks"] is None
    assert [len(each) for each in ours["ids"]] == [size["tokens"]] * 2 * size["prompts"]
    assert len({tuple(each) for each in ours["ids"]}) > size["prompts"] // 2
    for fact in ("ids", "bits", "drafts"):
        assert ours[fact] == theirs[fact], fact


def test_every_pick_was_counted_and_rejected_drafts_too(
    case: tuple[Mapping[str, int], Mapping[str, Found]],
) -> None:
    facts = case[1][FOLLOWS]
    drafts, banks = facts["drafts"], facts["banks"]
    assert 0 < drafts["taken"] < drafts["scheduled"]
    assert thrown_away(facts) > 0
    tokens = routed_tokens(facts) + thrown_away(facts)
    assert banks["hot_picks"] + banks["cold_picks"] == tokens * K * LAYERS
    assert banks["cold_picks"] > 0


def test_the_map_followed_meanwhile(
    case: tuple[Mapping[str, int], Mapping[str, Found]],
) -> None:
    banks = case[1][FOLLOWS]["banks"]
    follows = banks["follows"]
    assert follows["decisions"] == banks["forwards"] // follows["every"] > 0
    assert (follows["ended"], banks["audit"], banks["failed"]) == ("", [], 0)
    assert banks["swaps"] > 0
    assert banks["bytes"] > 0
