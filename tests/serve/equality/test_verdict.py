"""A compare whose controls fail shows nothing."""

import itertools

import pytest

from lanewright.serve.equality.compare import Answer, Divergence, Role, Row
from lanewright.serve.equality.prompts import DISTINCT, MAX_TOKENS
from lanewright.serve.equality.verdict import Judged, Verdict, judge, worst

PLACE = Divergence(1, "one", 0, "token", 1, 2, 0.5)


def row(arm: str, role: Role, equal: int) -> Row:
    return Row(arm, role, equal, 4, None if equal == 4 else PLACE)


SELF = row("self", "control", 4)
EXCHANGED = row("exchanged", "negative control", 0)
OFF, ON = row("off", "arm", 4), row("on", "arm", 4)


def judged(*rows: Row, distinct: int = DISTINCT) -> Judged:
    """The tokens of the baseline are spread over two answers that share half of them."""
    half = distinct // 2
    answers = [Answer("one", tuple(range(half + 1)), (), ()), Answer("two", (), (), ())]
    answers[1] = Answer("two", tuple(range(half, distinct)), (), ())
    return judge("eager", answers, rows)


def test_equal_where_all_is_as_it_must_be() -> None:
    found = judged(SELF, EXCHANGED, OFF, ON)
    assert (found.mode, found.verdict, found.why, found.distinct) == ("eager", "equal", "", 200)
    assert found.rows == (SELF, EXCHANGED, OFF, ON)


def test_arms_that_differ_are_named() -> None:
    found = judged(SELF, EXCHANGED, row("off", "arm", 3), row("on", "arm", 0))
    assert (found.verdict, found.why) == ("differs", "off, on")
    found = judged(SELF, EXCHANGED, OFF, row("on", "arm", 3))
    assert (found.verdict, found.why) == ("differs", "on")


@pytest.mark.parametrize("arm", [ON, row("on", "arm", 0)])
@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ((row("self", "control", 3), EXCHANGED), "the baseline differs from itself in 1 answers"),
        ((SELF, row("exchanged", "negative control", 4)), "exchanged, which must differ, is equal"),
        ((SELF,), "there is no negative control"),
        ((EXCHANGED,), "there is no control"),
        ((), "there is no control; there is no negative control"),
    ],
)
def test_a_control_that_fails_outweighs_the_arms(rows: tuple[Row, ...], why: str, arm: Row) -> None:
    found = judged(*rows, arm)
    assert (found.verdict, found.why) == ("inconclusive", why)


def test_nothing_compared_is_not_equal() -> None:
    found = judged(SELF, EXCHANGED)
    assert (found.verdict, found.why) == ("inconclusive", "there is no arm")


def test_one_unequal_answer_is_enough_for_the_negative_control() -> None:
    assert judged(SELF, row("exchanged", "negative control", 3), ON).verdict == "equal"


def test_too_few_distinct_tokens_show_nothing() -> None:
    found = judged(SELF, EXCHANGED, ON, distinct=DISTINCT - 1)
    assert (found.verdict, found.distinct) == ("inconclusive", 199)
    assert found.why == "the answers hold 199 distinct tokens, fewer than 200"


def test_every_failed_control_is_told() -> None:
    found = judged(
        row("self", "control", 2), row("exchanged", "negative control", 4), ON, distinct=2
    )
    assert found.why.count(";") == 3


def test_an_answer_of_fewer_tokens_than_asked_shows_nothing() -> None:
    long, short = (Answer("one", tuple(range(n)), (), ()) for n in (300, MAX_TOKENS - 1))
    found = judge("eager", [long, short], (SELF, EXCHANGED, ON))
    assert found.verdict == "inconclusive"
    assert found.why == "an answer of the baseline has 63 tokens, fewer than 64"


def test_an_arm_that_ran_in_another_mode_shows_nothing() -> None:
    answers = [Answer("one", tuple(range(300)), (), ())]
    found = judge(
        "compiled", answers, (SELF, EXCHANGED, ON), spoilt=["compiled.on did not run compiled"]
    )
    assert (found.verdict, found.why) == ("inconclusive", "compiled.on did not run compiled")


def test_an_arm_that_is_not_compared_has_no_row_and_is_no_success() -> None:
    answers = [Answer("one", tuple(range(300)), (), ())]
    found = judge("eager", answers, (SELF, EXCHANGED, OFF), apart={"on": "tuned"})
    assert (found.verdict, found.why) == ("not compared", "on is not compared: tuned")
    found = judge("eager", answers, (SELF, EXCHANGED), apart={"off": "so", "on": "tuned"})
    assert found.verdict == "not compared"
    assert found.why == "off is not compared: so; on is not compared: tuned"


def test_without_the_control_nothing_is_compared() -> None:
    answers = [Answer("one", tuple(range(300)), (), ())]
    found = judge("eager", answers, (OFF, ON), apart={"self": "tuned"})
    assert (found.verdict, found.why) == ("not compared", "self is not compared: tuned")
    # What is missing for another reason stays missing.
    found = judge("eager", answers, (), apart={"self": "tuned"})
    assert found.verdict == "inconclusive"
    assert found.why == "there is no arm; self is not compared: tuned"
    found = judge("eager", answers, (ON,), apart={"off": "tuned"})
    assert found.why.startswith("there is no control; there is no negative control; off is not")


def test_what_differs_or_shows_nothing_outweighs_what_is_not_compared() -> None:
    answers = [Answer("one", tuple(range(300)), (), ())]
    differing = (SELF, EXCHANGED, row("off", "arm", 0))
    found = judge("eager", answers, differing, apart={"on": "tuned"})
    assert (found.verdict, found.why) == ("differs", "off; on is not compared: tuned")
    blind = (row("self", "control", 3), EXCHANGED, OFF)
    found = judge("eager", answers, blind, apart={"on": "tuned"})
    assert found.verdict == "inconclusive"
    assert found.why.endswith("from itself in 1 answers; on is not compared: tuned")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([], "inconclusive"),
        (["equal"], "equal"),
        (["equal", "equal"], "equal"),
        (["equal", "inconclusive"], "inconclusive"),
        (["equal", "differs"], "differs"),
        (["inconclusive", "differs"], "differs"),
        (["equal", "inconclusive", "differs"], "differs"),
        (["equal", "not compared"], "not compared"),
        (["not compared", "inconclusive"], "inconclusive"),
        (["not compared", "differs"], "differs"),
    ],
)
def test_the_worst_mode_is_the_verdict(verdicts: list[Verdict], expected: Verdict) -> None:
    for order in itertools.permutations(verdicts):
        assert worst(order) == expected
