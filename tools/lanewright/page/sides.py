"""Three sides of a conflict, line by line: what ours and theirs make of the base is marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from lanewright.report.model import Excerpt, ThreeSides
from lanewright.report.shown import cut

# Of one side; a hunk that is longer is settled in an editor.
MOST = 200
Sign = Literal[" ", "+", "-"]
KINDS: dict[str, str] = {" ": "same", "+": "added", "-": "removed", "@": "place"}


@dataclass(frozen=True)
class Line:
    """A line.

    Attributes:
        sign: ``+`` for what this side has and the base does not, ``-`` the other way round.
        text: Without its end.
    """

    sign: str
    text: str

    @property
    def kind(self) -> str:
        """Class in the style sheet."""
        return KINDS.get(self.sign, "same")


@dataclass(frozen=True)
class Side:
    """One side.

    Attributes:
        name: Whose.
        where: Its place in the file, for people.
        lines: They.
    """

    name: str
    where: str
    lines: Sequence[Line]


def three(sides: ThreeSides, lane: str, entry: str) -> list[Side]:
    """Base, ours, theirs; the latter two as they differ from the base."""
    base = sides.base.lines[:MOST]
    return [
        Side("base", _where(sides.base), _noted(sides.base, [Line(" ", cut(e)) for e in base])),
        Side(
            f"ours: lane {lane}", _where(sides.ours), _noted(sides.ours, _differs(base, sides.ours))
        ),
        Side(
            f"theirs: {entry}",
            _where(sides.theirs),
            _noted(sides.theirs, _differs(base, sides.theirs)),
        ),
    ]


def of_diff(text: str, most: int = 4 * MOST) -> list[Line]:
    """A hunk as a diff shows it, by the signs that it has."""
    lines = text.splitlines()
    made = [
        Line("@", cut(each)) if each.startswith("@@") else Line(each[:1] or " ", cut(each[1:]))
        for each in lines[:most]
    ]
    more = len(lines) - most
    return made if more <= 0 else [*made, Line("@", f"… {more:,} more lines are not shown")]


def _where(side: Excerpt) -> str:
    if side.first == 0:
        return "no such file"
    return f"from line {side.first}" if side.lines else f"nothing at line {side.first}"


def _differs(base: Sequence[str], side: Excerpt) -> list[Line]:
    own = side.lines[:MOST]
    return list(_marked(base, own))


def _marked(base: Sequence[str], own: Sequence[str]) -> Iterator[Line]:
    for tag, a, b, c, d in SequenceMatcher(None, base, own, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (Line(" ", cut(line)) for line in own[c:d])
        else:
            yield from (Line("-", cut(line)) for line in base[a:b])
            yield from (Line("+", cut(line)) for line in own[c:d])


def _noted(side: Excerpt, lines: list[Line]) -> list[Line]:
    more = len(side.lines) - MOST
    if more > 0:
        return [*lines, Line("@", f"… {more:,} more lines are not shown")]
    return [*lines, Line("@", "no newline at the end of the file")] if side.unended else lines
