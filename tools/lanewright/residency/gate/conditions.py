"""The three conditions under which prefetching is worth another look.

Source: the project's seed on prefetching, its last section. At least 30 % of the picks are cold
after a good map; a guesser names at least 85 % of a layer's picks with as many names, in time; and
upstream has merged residency by expert, so that there is a pool to copy into.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanewright.residency.gate.read import GuesserTold, Replayed, Scoreboard, WideTold

COLD, RECALL = 0.30, 0.85
# Maps that an engine can serve; the oracle's can not be had, and caches copy at every miss.
GOOD_MAPS = ("fixed", "following", "following-eams")
# They guess nothing: one is told, the other draws.
NO_GUESSERS = ("control", "random")
# The pull request that brings a pool of expert rows.
RESIDENCY = 56177


@dataclass(frozen=True)
class Condition:
    """One of them.

    Attributes:
        name: Of the condition.
        met: Whether it holds; None where nobody told.
        value: What was found, in words.
        change: What would have to change, in words; empty where it is met.
        number: What was found, where it is a number.
        bar: Where it must be.
    """

    name: str
    met: bool | None
    value: str
    change: str
    number: float | None = None
    bar: float | None = None


def cold_after_a_map(replayed: Replayed | None) -> Condition:
    """Is much cold under the best map that can be had?"""
    name = "cold after a good map"
    if replayed is None:
        return Condition(name, None, "no replay was given", "give one with --replay", bar=COLD)
    maps = [each for each in replayed.policies if each.policy in GOOD_MAPS]
    if not maps:
        change = f"replay with --policy {','.join(GOOD_MAPS)}"
        return Condition(name, None, "the replay has no map", change, bar=COLD)
    best = min(maps, key=lambda each: each.cold_share)
    rows, experts = sum(replayed.rows), replayed.experts * len(replayed.rows)
    value = f"{best.cold_share:.2%} under {best.policy}, {rows} of {experts} experts hot"
    change = (
        f"{COLD - best.cold_share:.2%} more of the picks would have to be cold: other traffic, or fewer"
        " rows; while a map takes them, prefetching has nothing left to win"
    )
    met = best.cold_share >= COLD
    return Condition(name, met, value, "" if met else change, best.cold_share, COLD)


def guessed_in_time(scoreboard: Scoreboard | None) -> Condition:
    """Does any guesser name most of what a layer picks, before it does?"""
    name = "recall of a guesser"
    if scoreboard is None:
        return Condition(name, None, "no scoreboard was given", "give one with --guess", bar=RECALL)
    k = scoreboard.picks_per_token
    rows = [(each, wide) for each in scoreboard.guessers if _guesses(each) for wide in _of(each, k)]
    if not rows:
        change = "score guessers that can be had: residency guess"
        return Condition(name, None, "the scoreboard has no guesser", change, bar=RECALL)
    best, wide = max(rows, key=lambda each: each[1].recall)
    error = wide.recall_error
    told = "" if error is None else f" +- {error:.2%}"
    value = f"{wide.recall:.2%}{told} with {k} names by {best.guesser}"
    met: bool | None = wide.recall >= RECALL
    change = f"{RECALL - wide.recall:.2%} more of the picks would have to be among {k} names"
    if not met and (head := _missing_head(scoreboard)) is not None:
        change += f"; the trained head is not scored: {head}"
        # The one guesser with evidence behind it: what it would find is not known.
        met = None
    return Condition(name, met, value, "" if met else change, wide.recall, RECALL)


def _guesses(each: GuesserTold) -> bool:
    late = each.lead_seconds is not None and each.lead_seconds <= 0
    return each.copies and not late and each.guesser not in NO_GUESSERS


def _of(each: GuesserTold, names: int) -> list[WideTold]:
    return [wide for wide in each.wide if wide.names == names]


def _missing_head(scoreboard: Scoreboard) -> str | None:
    heads = [each for each in scoreboard.guessers if each.guesser == "head"]
    if not heads:
        return "it was not asked"
    return heads[0].missing


def merged(number: int, state: str, seen: str) -> Condition:
    """Has upstream taken in residency by expert?

    Args:
        number: Of the pull request that brings it.
        state: As GitHub or ``pr.toml`` has it; empty where nobody knows.
        seen: The day on which that was so; empty where nobody knows.
    """
    name = "residency by expert upstream"
    if not state:
        change = f"lanewright fetch asks for #{number}, or say it in patches/{number}/pr.toml"
        return Condition(name, None, f"the state of #{number} is not known", change)
    value = f"#{number} is {state}" + (f", seen on {seen}" if seen else "")
    met = state == "merged"
    return Condition(name, met, value, "" if met else f"#{number} would have to be merged")


def verdict(conditions: Sequence[Condition]) -> str:
    """Give ``open`` where all are met, ``closed`` where one is not, else ``unknown``."""
    if any(each.met is False for each in conditions):
        return "closed"
    return "open" if all(each.met for each in conditions) else "unknown"


VERDICTS: Mapping[str, str] = {
    "open": "prefetching is worth another look: all three conditions are met",
    "closed": "prefetching is not worth another look: a condition is not met",
    "unknown": "nothing speaks against prefetching, and not all is known",
}
