"""A lane may compare less than others, and that is told wherever its verdict is."""

import re
from typing import Any

import msgspec
import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.series_boot import EqualitySpec
from lanewright.serve.equality.asked import DEFAULT, MODES, Asked
from lanewright.serve.equality.compare import Answer, Row
from lanewright.serve.equality.told import lines
from lanewright.serve.equality.verdict import judge
from tests.serve.equality.test_verdict import EXCHANGED, ON, SELF

LESS: dict[str, Any] = {"prompts": 6, "tokens": 16, "distinct": 40, "modes": ["eager"]}


def asked(engine: dict[str, Any] | None = None, **given: Any) -> Asked:  # noqa: ANN401 - TOML
    return Asked.of(msgspec.convert(given, EqualitySpec), "a.toml: [equality]", engine or {})


def test_nothing_said_is_the_default_of_which_nothing_is_told() -> None:
    assert asked() == DEFAULT == Asked(prompts=44, tokens=64, distinct=200, modes=MODES)
    assert not list(DEFAULT.fewer())


def test_how_far_throughput_may_drift_is_no_less_and_no_more_to_ask() -> None:
    assert (asked().drift, asked(drift=0.05).drift) == (0.03, 0.05)
    assert not list(asked(drift=0.05).fewer())


def test_as_much_or_more_is_nothing_to_tell() -> None:
    assert not list(
        asked(prompts=44, tokens=128, distinct=300, modes=["compiled", "eager"]).fewer()
    )


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("prompts", "6 of 44 prompts"),
        ("tokens", "16 of 64 tokens a prompt"),
        ("distinct", "40 distinct tokens needed, not 200"),
        ("modes", "only eager"),
    ],
)
def test_each_that_is_less_is_told(key: str, told: str) -> None:
    assert list(asked(**{key: LESS[key]}).fewer()) == [told]


def test_all_of_it_is_told_before_the_rows() -> None:
    fewer = list(asked(**LESS).fewer())
    (first,) = lines({"fewer": fewer, "modes": []})
    assert first.startswith("asked for less than by default: 6 of 44 prompts, 16 of 64 tokens")


def test_many_at_once_is_asked_beside_one_by_one() -> None:
    assert asked(together=[16, 44]).together == (16, 44)
    assert not list(asked(together=[16]).fewer())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"prompts": 45}, "there are 44, not 45"),
        ({"prompts": 6, "tokens": 16}, "6 answers of 16 tokens cannot hold 200 different ones"),
        ({"modes": []}, "modes: needs one of"),
        ({"modes": ["eager", "eager"]}, "modes: needs one of"),
    ],
)
def test_what_cannot_be_asked_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(LanewrightError, match=told) as caught:
        asked(**given)
    assert "a.toml: [equality]" in str(caught.value)


def test_answers_that_leave_no_room_for_a_prompt_are_refused() -> None:
    with pytest.raises(LanewrightError) as caught:
        asked({"max_model_len": 512}, tokens=512)
    assert str(caught.value) == (
        "a.toml: [equality] tokens: an answer of 512 leaves no room for a prompt in"
        " max_model_len 512"
    )
    assert "[engine] max_model_len" in (caught.value.hint or "")
    with pytest.raises(LanewrightError, match="an answer of 64 leaves no room"):
        asked({"max_model_len": 64})
    assert asked({"max_model_len": 512}, tokens=511).tokens == 511


@pytest.mark.parametrize("given", [{"prompts": 0}, {"tokens": -1}, {"modes": ["fast"]}, {"x": 1}])
def test_what_is_no_such_value_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        asked(**given)


@pytest.mark.parametrize(
    ("tokens", "distinct", "why"),
    [
        (16, 16, ""),
        (15, 15, "an answer of the baseline has 15 tokens, fewer than 16"),
        (16, 7, "the answers hold 7 distinct tokens, fewer than 8"),
    ],
)
def test_a_verdict_needs_what_was_asked(tokens: int, distinct: int, why: str) -> None:
    answer = Answer("one", tuple(number % distinct for number in range(tokens)), (), ())
    rows: list[Row] = [SELF, EXCHANGED, ON]
    found = judge("eager", [answer], rows, asked=Asked(prompts=1, tokens=16, distinct=8))
    assert (found.verdict, found.why) == ("inconclusive" if why else "equal", why)


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("moe_hot_experts", "moe_hot_experts is of our overlay"),
        ("model", "model is the boot's own, or would make another model"),
        ("quantization", "quantization is the boot's own"),
    ],
)
def test_what_a_baseline_cannot_be_given(argument: str, told: str) -> None:
    with pytest.raises(LanewrightError, match=re.escape(f"here baseline: {told}")):
        Asked.of(EqualitySpec(baseline={argument: "12"}), "here", {})
