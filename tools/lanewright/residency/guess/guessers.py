"""The guessers by name, and the scoreboard of them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from lanewright.errors import MismatchError
from lanewright.residency.guess.all_requests import (
    at_random,
    cache_in_hindsight,
    cache_so_far,
    global_frequency,
)
from lanewright.residency.guess.layer_before import by_table, same_ids
from lanewright.residency.guess.lead import Lead
from lanewright.residency.guess.ranks import nothing
from lanewright.residency.guess.same_request import (
    draft,
    eam,
    previous_step,
    request_frequency,
)
from lanewright.residency.guess.score import Score, score
from lanewright.residency.guess.setting import CannotGuess, Ranks, Setting

CONTROL = "control"


@dataclass(frozen=True)
class Guesser:
    """One of them.

    Attributes:
        lead: When its guess can be made.
        ranked: The guess.
    """

    lead: Lead
    ranked: Callable[[Setting], Ranks]


@dataclass(frozen=True)
class Scored:
    """A row of the scoreboard.

    Attributes:
        name: The guesser's.
        lead: When its guess can be made.
        score: None where it cannot guess.
        missing: Why not; empty where it can.
    """

    name: str
    lead: Lead
    score: Score | None
    missing: str = ""


def truth(setting: Setting) -> Ranks:
    """Name what is picked: any score but 1 would be a fault of the scoring."""
    ids = setting.trace.ids[setting.scored]
    found = nothing((*ids.shape[:2], setting.width))
    found[:, :, : ids.shape[2]] = ids
    return found


def head(setting: Setting) -> Ranks:
    """Name what the trained head ranks first.

    Raises:
        CannotGuess: The trace has no hidden states, or nothing here fits a head.
    """
    if setting.trace.hidden is None:
        raise CannotGuess("the trace has no hidden states: `residency record --hidden` keeps them")
    if setting.head is None:
        raise CannotGuess("nothing here fits it")
    return setting.head(setting)


STEP = Lead("a forward", steps=1)
LAYER = Lead("a layer", layers=1)
# An EAM is matched whole: once the forward before is through. The first layer's is the least lead.
THROUGH = Lead("the first layer's attention", attention=1)
STANDING = Lead("known before the start", standing=True)
HELD = Lead("held already", copies=False)
GUESSERS: dict[str, Guesser] = {
    CONTROL: Guesser(Lead("none"), truth),
    "random": Guesser(STANDING, at_random),
    "previous-layer": Guesser(LAYER, same_ids),
    "layer-table": Guesser(LAYER, by_table),
    "previous-step": Guesser(STEP, previous_step),
    "draft": Guesser(STEP, draft),
    "request": Guesser(STEP, request_frequency),
    "global": Guesser(STANDING, global_frequency),
    "eam": Guesser(THROUGH, eam),
    "lru-cache": Guesser(HELD, cache_so_far),
    "hindsight-cache": Guesser(HELD, cache_in_hindsight),
    "head": Guesser(Lead("a layer's attention", attention=1), head),
}


def scoreboard(setting: Setting, names: Iterable[str]) -> Iterator[Scored]:
    """Score guessers, one after the other.

    Args:
        setting: What they guess at, at least one token.
        names: Of ``GUESSERS``.

    Raises:
        MismatchError: The control scores something else than 1.
        ValueError: There is nothing to guess at.
    """
    if not len(setting.scored):
        raise ValueError("there is nothing to guess at")
    for name in names:
        one = GUESSERS[name]
        try:
            found = Scored(name, one.lead, score(setting, one.ranked(setting)))
        except CannotGuess as why:
            found = Scored(name, one.lead, None, str(why))
        if name == CONTROL:
            require_exact(found.score)
        yield found


def require_exact(control: Score | None) -> None:
    """Refuse a scoreboard whose control, which is given the picks, does not score 1.

    Raises:
        MismatchError: The same.
    """
    recalls = [] if control is None else [each.recall for each in control.wide]
    if not recalls or not np.array_equal(recalls, np.ones(len(recalls))):
        raise MismatchError(
            f"the control is given the picks and recalls {recalls}, not 1: no score here is to be trusted"
        )
