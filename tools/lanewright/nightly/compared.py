"""Throughput of a night's comparisons beside each lane's own drift: told, and no failure of a night."""

from collections.abc import Iterator, Mapping

from lanewright.errors import LanewrightError
from lanewright.history.band import FASTER, NOT_COUNTED, SLOWER, WITHIN
from lanewright.history.database import opened
from lanewright.history.past import PastRun
from lanewright.history.runs import run_of
from lanewright.history.speed_words import judged, told_band, told_word
from lanewright.history.transactions import reading
from lanewright.nightly.night import Night
from lanewright.places import Places
from lanewright.report.shown import in_a_line
from lanewright.terminal import Amber, say

BOOT = "boot"
# Never green, whichever way it went: only equality and proofs pass a night.
MARKS: Mapping[str, str] = {SLOWER: "🟠", FASTER: "🔵", WITHIN: "⚪", NOT_COUNTED: "⚪"}


def runs_of(places: Places, night: Night) -> dict[str, PastRun]:
    """The run that each lane's boot recorded, by lane, as the history has it.

    What keeps the history from being read is said, and keeps no night from being told.
    """
    boots = {s.lane: s.run for s in night.steps if s.name == BOOT and s.lane and s.run}
    try:
        with opened(places) as connection, reading(connection):
            found = {lane: run_of(connection, lane, folder) for lane, folder in boots.items()}
    except (LanewrightError, OSError) as error:
        say(f"the night's throughput is not told: {error}")
        return {}
    return {lane: run for lane, run in found.items() if run}


def lines(run: PastRun) -> Iterator[str]:
    """Yield a line for each mode: its band, then each arm's word; amber where one is slower."""
    for band in run.bands:
        arms = list(judged(run, band.mode))
        told = ", ".join(f"{arm.arm} {told_word(arm)}" for arm in arms)
        line = in_a_line(f"throughput {band.mode}, {told_band(band)}: {told}")
        if arms:
            yield Amber(line) if any(arm.word == SLOWER for arm in arms) else line


def rows(runs: Mapping[str, PastRun]) -> Iterator[tuple[str, ...]]:
    """Yield each arm as a row of a table: lane, mode, arm, word with its mark, band."""
    for lane, run in runs.items():
        for band in run.bands:
            for arm in judged(run, band.mode):
                word = f"{MARKS.get(arm.word, '🟠')} {told_word(arm)}"
                yield lane, band.mode, arm.arm, in_a_line(word), told_band(band)
