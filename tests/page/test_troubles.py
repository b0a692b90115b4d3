"""What a night came to in a word: green only where every lane passed."""

from pathlib import Path

import pytest

from lanewright.nightly.night import Step, Verdict
from lanewright.page.nights import SeenNight
from lanewright.page.shown import shown
from lanewright.page.troubles import gravest, summary, troubles_of
from tests.history.made import at, night


def seen(*lanes: list[Verdict], newest: bool = True) -> SeenNight:
    """A night of lanes a, b, ...; each by what its steps came to."""
    steps = [
        Step(f"step{number}", [], "abc"[lane], verdict, why=f"why {number}\n  next: do {number}")
        for lane, verdicts in enumerate(lanes)
        for number, verdict in enumerate(verdicts)
    ]
    names = ["abc"[lane] for lane in range(len(lanes))]
    return SeenNight(Path("/none"), night(at(1), steps, lanes=names), newest)


@pytest.mark.parametrize(
    ("lanes", "word", "kind", "told"),
    [
        ([["passed", "left out"]], "passed", "good", "a passed"),
        ([["passed"], ["passed", "drift"]], "passed", "good", "all 2 lanes passed"),
        ([["passed"], ["passed", "not run"]], "not run", "amber", "1 of 2 lanes passed, 1 not run"),
        ([["not run"], ["failed"]], "failed", "bad", "0 of 2 lanes passed, 1 not run, 1 failed"),
        ([["conflicts"]], "conflicts", "conflict", "0 of 1 lane passed, 1 in conflict"),
        ([["left out", "left out"]], "left out", "quiet", "0 of 1 lane passed, 1 left out"),
        ([["passed", "pending"]], "pending", "open", "0 of 1 lane passed, 1 not ended"),
        ([[]], "pending", "open", "0 of 1 lane passed, 1 not ended"),
        ([], "pending", "open", "no lane was tried"),
    ],
    ids=str,
)
def test_a_night_in_a_word(lanes: list[list[Verdict]], word: str, kind: str, told: str) -> None:
    found = seen(*lanes)
    assert (gravest(found), shown(gravest(found)).kind, summary(found)) == (word, kind, told)


def test_the_gravest_comes_first_with_its_step_and_what_to_type() -> None:
    found = troubles_of(seen(["passed", "not run"], ["passed"], ["conflicts", "failed"]))
    assert [(each.lane, each.step, each.why, each.next) for each in found] == [
        ("c", "step1", "why 1", ["do 1"]),
        ("a", "step1", "why 1", ["do 1"]),
    ]
    assert found[0].also == [("step0", "conflicts")]


def test_an_older_night_that_did_not_end_was_interrupted() -> None:
    found = seen(["passed", "pending"], newest=False)
    assert gravest(found) == "interrupted"
    assert troubles_of(found)[0].word == "interrupted"


def test_a_word_that_is_not_known_is_nothing_good() -> None:
    assert shown("splendid").kind == "amber"
