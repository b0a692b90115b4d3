"""What a reader is to see first of a night: which lanes did not pass, where, why, and what did it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.history.verdict import PASSED, verdict_of
from lanewright.nightly.told import of_lane
from lanewright.page.nights import SeenNight
from lanewright.page.outputs import bisect_of

NEXT = "next: "
# The gravest first; what is not here comes last.
ORDER = ("failed", "conflicts", "interrupted", "pending", "not run")
# Of a step, beside another that did not pass.
FINE = (PASSED, "left out", "drift", "pending")
SAID = {"conflicts": "in conflict", "not run": "not run", "pending": "not ended"}


@dataclass(frozen=True)
class Trouble:
    """A lane that did not pass.

    Attributes:
        lane: Which.
        word: What it came to.
        step: Name of the step that says so; empty where none does.
        why: What that said, without what is to be typed next.
        next: What is to be typed next.
        culprits: What a search found to be to blame: an entry, with the file and hunk where known.
        place: Where its page tells of them.
        also: Other steps that did not pass, and what they came to.
    """

    lane: str
    word: str
    step: str
    why: str
    next: Sequence[str]
    culprits: Sequence[str]
    place: str
    also: Sequence[tuple[str, str]]


def troubles_of(seen: SeenNight) -> list[Trouble]:
    """The lanes of a night that did not pass, the gravest first."""
    lanes = [lane for lane in seen.night.lanes if seen.word(lane) != PASSED]
    found = [_trouble(seen, lane) for lane in lanes]
    return sorted(found, key=lambda each: ORDER.index(each.word) if each.word in ORDER else 99)


def _trouble(seen: SeenNight, lane: str) -> Trouble:
    steps = of_lane(seen.night, lane)
    _, where = verdict_of(steps)
    step = seen.step(lane, where)
    why, commands = divided(step.why if step else "")
    return Trouble(
        lane=lane,
        word=seen.word(lane),
        step=where,
        why=why,
        next=commands,
        culprits=_culprits(seen, lane),
        place="bisect" if bisect_of(seen, lane) else "step-bisect",
        also=[
            (each.name, each.verdict)
            for each in steps
            if each.verdict not in FINE and each.name != where
        ],
    )


def divided(said: str) -> tuple[str, list[str]]:
    """What a step said, and what it said is to be typed next."""
    lines = said.splitlines()
    commands = [line.strip().removeprefix(NEXT) for line in lines if line.strip().startswith(NEXT)]
    return "\n".join(line for line in lines if not line.strip().startswith(NEXT)), commands


def _culprits(seen: SeenNight, lane: str) -> list[str]:
    """The parts without which the lane is good; all that are bad where it is not good without any."""
    if found := bisect_of(seen, lane):
        return found.good_without or [part.part for part in found.parts]
    step = seen.step(lane, "bisect")
    # As the night keeps it, where what it printed is gone.
    return divided(step.why)[0].splitlines() if step and step.verdict == PASSED else []


def gravest(seen: SeenNight) -> str:
    """What a night came to, in a word: the gravest of its lanes'."""
    found = {seen.word(lane) for lane in seen.night.lanes}
    others = found - {PASSED}
    return next((word for word in ORDER if word in found), min(others or found, default="pending"))


def summary(seen: SeenNight) -> str:
    """A night in a few words: how many lanes passed, and what became of the others."""
    words = [seen.word(lane) for lane in seen.night.lanes]
    passed, total = words.count(PASSED), len(words)
    if not total:
        return "no lane was tried"
    if passed == total:
        return f"{seen.night.lanes[0]} passed" if total == 1 else f"all {total} lanes passed"
    others = Counter(SAID.get(word, word) for word in words if word != PASSED)
    told = ", ".join(f"{many} {word}" for word, many in others.items())
    return f"{passed} of {total} {'lane' if total == 1 else 'lanes'} passed, {told}"
