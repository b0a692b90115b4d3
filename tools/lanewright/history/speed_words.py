"""Throughput beside a lane's own drift, in words."""

from collections.abc import Iterator

from lanewright.history.band import SLOWER, distance
from lanewright.history.past import PastBand, PastRun, PastSpeed
from lanewright.report.outcome import counted

# The lane with its features off, and on; others are there for equality alone: rows swapped all along,
# a map that follows every whim, another boot map.
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
    stands = f"by {counted(band.runs, 'run')}" if band.runs else "the least: no self control counts"
    return f"{percent(band.width)} either way, {stands}"


def stands_on(band: PastBand, hardware: str | None) -> str:
    """Of what a band is the widest, e.g. ``at least 3.00 %, by this run's self control 4.10 %``."""
    seen = [f"at least {percent(band.floor)}"]
    if band.own is not None:
        seen.append(f"by this run's self control {percent(distance(band.own))}")
    if band.spread is not None:
        on = f" on {hardware}" if hardware else ""
        seen.append(f"by those of {counted(band.runs, 'run')}{on} {percent(band.spread)}")
    return ", ".join(seen)


def percent(share: float, *, sign: bool = False) -> str:
    """A share as people read it, to the digits that it is judged by."""
    return f"{share * 100:{'+' if sign else ''}.2f} %"
