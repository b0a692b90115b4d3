"""Answers of a boot are long enough for what it is to prove, and fit the model."""

from collections.abc import Mapping
from typing import Any

import pytest

from lanewright.errors import LanewrightError
from lanewright.serve.boot import PROMPTS
from lanewright.serve.length import DECISIONS, LEAST, LONGEST, ROOM, answer_tokens


@pytest.mark.parametrize("engine", [{}, {"moe_follow": ""}, {"moe_follow": "8"}])
def test_what_few_forwards_prove_needs_no_more(engine: Mapping[str, Any]) -> None:
    assert answer_tokens(engine) == LEAST


@pytest.mark.parametrize("text", ["64", "every=100,swaps=4"])
def test_a_map_that_follows_is_decided_on_more_than_once(text: str) -> None:
    every = 64 if text == "64" else 100
    tokens = answer_tokens({"moe_follow": text})
    # One forward a token: the prompt's is the first.
    assert tokens * len(PROMPTS) // every == DECISIONS
    assert (tokens - 1) * len(PROMPTS) < DECISIONS * every


def test_drafts_that_are_taken_make_fewer_forwards() -> None:
    drafted = {"moe_follow": "64", "speculative_config": {"num_speculative_tokens": 3}}
    assert answer_tokens(drafted) == 4 * answer_tokens({"moe_follow": "64"})


def test_no_answer_is_longer_than_the_model_has_room_for_or_a_boot_may_last() -> None:
    assert answer_tokens({"moe_follow": "64", "max_model_len": 90}) == 90 - ROOM
    assert answer_tokens({"moe_follow": "64", "max_model_len": 70}) == LEAST
    assert answer_tokens({"moe_follow": "100000"}) == LONGEST
    assert max(len(prompt.encode()) for prompt in PROMPTS) < ROOM


def test_a_pace_that_is_none_is_told_before_anything_is_booted() -> None:
    with pytest.raises(
        LanewrightError, match=r"engine argument moe_follow .*'soon' is no setting"
    ) as told:
        answer_tokens({"moe_follow": "every=2,soon=3"})
    assert "there are every" in (told.value.hint or "")
