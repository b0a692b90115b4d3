"""Each condition: met, not met and not known, and what all three come to."""

import pytest

from lanewright.residency.gate.conditions import (
    Condition,
    cold_after_a_map,
    guessed_in_time,
    merged,
    verdict,
)
from lanewright.residency.gate.read import (
    GuesserTold,
    PolicyTold,
    Replayed,
    Scoreboard,
    WideTold,
)


def replayed(**cold: float) -> Replayed:
    policies = [PolicyTold(name.replace("_", "-"), share) for name, share in cold.items()]
    return Replayed(1, "hash", 100, [6, 5], 16, policies)


def guesser(
    name: str, recall: float, *, lead: float | None = 0.001, copies: bool = True, names: int = 4
) -> GuesserTold:
    wide = [WideTold(names, recall, 0.01), WideTold(2 * names, min(1.0, recall * 2))]
    return GuesserTold(name, copies, lead, None, wide)


def board(*guessers: GuesserTold) -> Scoreboard:
    return Scoreboard(1, "hash", 100, 4, [*guessers])


def test_the_best_map_that_can_be_had_counts() -> None:
    found = cold_after_a_map(
        replayed(null=0.7, fixed=0.4, following=0.35, oracle=0.1, belady=0.05, lru=0.2)
    )
    assert found.met is True
    assert found.number == 0.35
    assert found.value == "35.00% under following, 11 of 32 experts hot"
    found = cold_after_a_map(replayed(fixed=0.4, following=0.35, following_eams=0.29))
    assert found.met is False
    assert found.change.startswith("1.00% more of the picks would have to be cold")


def test_what_no_replay_tells_is_not_known() -> None:
    assert cold_after_a_map(None).met is None
    assert cold_after_a_map(replayed(oracle=0.5, lru=0.4)).met is None


@pytest.mark.parametrize(
    "no_guess",
    [
        guesser("control", 1.0),
        guesser("random", 0.99),
        guesser("hindsight-cache", 0.99, copies=False),
        guesser("late", 0.99, lead=0.0),
        # As many names as picks, and no more.
        guesser("wide", 0.99, names=8),
    ],
)
def test_what_cannot_be_had_or_comes_too_late_is_no_guess(no_guess: GuesserTold) -> None:
    found = guessed_in_time(board(no_guess, guesser("head", 0.8)))
    assert found.met is False
    assert found.number == 0.8
    assert found.value == "80.00% +- 1.00% with 4 names by head"
    assert guessed_in_time(board(no_guess)).met is None


def test_without_the_trained_head_a_low_recall_is_not_known() -> None:
    low, missing = (
        guesser("request", 0.2),
        GuesserTold("head", copies=True, missing="no hidden states"),
    )
    found = guessed_in_time(board(low, missing))
    assert found.met is None
    assert found.change.endswith("the trained head is not scored: no hidden states")
    assert guessed_in_time(board(low)).met is None
    assert guessed_in_time(board(guesser("request", 0.86), missing)).met is True
    assert guessed_in_time(None).met is None


@pytest.mark.parametrize(
    ("state", "met"),
    [("merged", True), ("open", False), ("closed", False), ("draft", False), ("", None)],
)
def test_only_merged_is_merged(state: str, met: bool | None) -> None:  # noqa: FBT001 - a case
    found = merged(56177, state, "2026-10-23" if state else "")
    assert found.met is met
    assert "#56177" in found.value
    assert ("2026-10-23" in found.value) == bool(state)
    assert (found.change == "") == (met is True)


@pytest.mark.parametrize(
    ("met", "wanted"),
    [
        ([True, True, True], "open"),
        ([True, None, True], "unknown"),
        ([None, None, None], "unknown"),
        ([True, None, False], "closed"),
        ([False, True, True], "closed"),
    ],
)
def test_what_is_not_known_never_counts_as_met(met: list[bool | None], wanted: str) -> None:
    assert verdict([Condition("", each, "", "") for each in met]) == wanted
