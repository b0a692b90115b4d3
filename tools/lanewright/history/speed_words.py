"""Throughput beside a lane's own drift, in words."""

from collections.abc import Iterator

from lanewright.history.band import SLOWER
from lanewright.history.past import PastBand, PastRun, PastSpeed

# Arms as a server runs; the others are forced to swap or to stage, which no server does.
AS_SERVED = ("off", "on")


def judged(run: PastRun, mode: str) -> Iterator[PastSpeed]:
    """Yield the arms of a mode that have a word."""
    yield from (each for each in run.throughput if each.mode == mode and each.word)


def slower_as_served(run: PastRun) -> list[str]:
    """Arms that are slower than the lane's own drift explains, e.g. ``eager on``."""
    return [
        f"{each.mode} {each.arm}"
        for each in run.throughput
        if each.word == SLOWER and each.arm in AS_SERVED
    ]


def told_word(speed: PastSpeed) -> str:
    """An arm's word and what is behind it, e.g. ``slower (-8.83 %)``."""
    return f"{speed.word} ({speed.why or percent((speed.ratio or 0) - 1, sign=True)})"


def told_band(band: PastBand) -> str:
    """A band and what it stands on, e.g. ``3.00 % either way, by 5 runs``."""
    several = "" if band.runs == 1 else "s"
    stands = f"by {band.runs} run{several}" if band.runs else "the least: no self control counts"
    return f"{percent(band.width)} either way, {stands}"


def percent(share: float, *, sign: bool = False) -> str:
    """A share as people read it, to the digits that it is judged by."""
    return f"{share * 100:{'+' if sign else ''}.2f} %"
