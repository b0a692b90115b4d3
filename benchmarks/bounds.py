"""What is wanted of a measurement, and which of it is missed.

A bound is missed where the whole 95 % interval lies beyond it: what may be noise is no verdict.
"""

from collections.abc import Sequence

from benchmarks.intervals import Interval
from lanewright.errors import ExitCode
from lanewright.terminal import say


def below(what: str, found: Interval, least: float, digits: int = 4) -> list[str]:
    """Say that an interval's upper end does not reach a least; nothing where it does."""
    if found.high >= least:
        return []
    return [f"{what} {found.told(digits)} does not reach {least}"]


def above(what: str, found: Interval, most: float, digits: int = 1) -> list[str]:
    """Say that even an interval's lower end exceeds a most; nothing where it does not."""
    if found.low <= most:
        return []
    return [f"{what} {found.told(digits)} exceeds {most}"]


def verdict(missed: Sequence[str]) -> ExitCode:
    """Say on stderr what is missed, and give the exit code of a benchmark."""
    for each in missed:
        say(f"NOT REACHED: {each}")
    return ExitCode.MISMATCH if missed else ExitCode.CLEAN
