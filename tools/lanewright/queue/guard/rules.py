"""The rules that keep parts of a change out of a lane, and how a series names an exception."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal

from lanewright.errors import LanewrightError
from lanewright.invisible import visible

Rule = Literal["link", "submodule", "twin", "attributes", "ci", "packaging", "bidi"]
ALLOWABLE: tuple[Rule, ...] = ("link", "twin", "attributes", "ci", "packaging", "bidi")


@dataclass(frozen=True)
class Finding:
    """A part of a change that a rule keeps out.

    Attributes:
        rule: The rule.
        path: The file.
        hunk: Id of the unit; empty where the file is none that could be chosen.
        why: What is wrong with it.
        line: Its line in the file as the chosen hunks make it on their own base, or 0.
        final: Whether no series can allow it.
    """

    rule: Rule
    path: str
    hunk: str
    why: str
    line: int = 0
    final: bool = False

    def __str__(self) -> str:
        """As a person reads it."""
        hunk = f", hunk {self.hunk}" if self.hunk else ""
        line = f", line {self.line}" if self.line else ""
        never = "; nothing allows that" if self.final else ""
        return visible(f"{self.path}{hunk}{line}: {self.rule}: {self.why}{never}")

    @property
    def allowance(self) -> str:
        """What a series says to let it in."""
        return f"{self.rule}:{self.path}"


def check_allowances(names: Sequence[str], place: str) -> None:
    """See that each is a rule and a path.

    Args:
        names: What ``allow`` lists, such as ``bidi:vllm/a.py``.
        place: Series and entry, for messages.

    Raises:
        LanewrightError: One has no path, or a rule that is unknown or allows no exception.
    """
    known = ", ".join(ALLOWABLE)
    for name in names:
        rule, _, path = name.partition(":")
        if rule == "submodule":
            raise LanewrightError(
                f"{place}: allows {visible(name)!r}, and a lane's tree can have no submodule",
                hint=f"leave it out; what can be allowed: {known}",
            )
        if rule not in ALLOWABLE or not path:
            raise LanewrightError(
                f"{place}: allows {visible(name)!r}, which is no RULE:PATH",
                hint=f"write it as in bidi:vllm/a.py; the rules: {known}",
            )


def check_allowed_paths(names: Sequence[str], paths: Container[str], place: str) -> None:
    """See that each allowance is of a file that the entry changes, chosen or not.

    Raises:
        LanewrightError: One is not.
    """
    for name in names:
        path = name.partition(":")[2]
        if path not in paths:
            raise LanewrightError(
                f"{place}: allows {visible(name)!r}, and the entry does not change that file",
                hint="take it out of `allow`, or correct the path",
            )
