"""Nights as a page has them: the last ones, read with no trust in what they name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.history.past import PastLane, PastNight, PastRun
from lanewright.history.verdict import verdict_of
from lanewright.nightly.night import Night, Step, newest_nights, read_night
from lanewright.nightly.told import of_lane
from lanewright.page.past import past_of
from lanewright.places import Places
from lanewright.project import LANE_NAME
from lanewright.store.regular import read_regular

SHOWN = 60
NAME = re.compile(r"\d{8}T\d{6}Z(?:-\d{1,4})?")
# Of what a step wrote, or a run's folder; it is no path.
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
# Bytes. A report of hundreds of hunks has a few millions.
MOST = 2**26


@dataclass(frozen=True)
class SeenNight:
    """A night.

    Attributes:
        folder: Its folder; None where that is gone, and only the history tells.
        night: What it is.
        newest: Whether none is newer: where it has not ended, it may still be under way.
        past: What the history has of its lanes.
    """

    folder: Path | None
    night: Night
    newest: bool
    past: Mapping[str, PastLane] = field(default_factory=dict)

    def word(self, lane: str) -> str:
        """What a lane's night came to, in a word."""
        return self.of_step(verdict_of(of_lane(self.night, lane))[0] or "pending")

    def of_step(self, came_to: str) -> str:
        """What a step came to; what an interrupted night did not come to is not pending."""
        return "interrupted" if came_to == "pending" and not self.newest else came_to

    def step(self, lane: str, name: str) -> Step | None:
        """A lane's step, if the night has it."""
        return next((step for step in of_lane(self.night, lane) if step.name == name), None)

    def run(self, lane: str) -> PastRun | None:
        """The run that a lane's boot recorded, as the history has it."""
        boot, past = self.step(lane, "boot"), self.past.get(lane)
        runs = past.runs if past and boot else []
        return next((run for run in runs if boot and run.folder == boot.run), None)

    def moved(self, lane: str) -> bool:
        """Whether upstream had moved away from a lane."""
        step = self.step(lane, "drift")
        return step is not None and step.verdict == "drift"

    def read(self, name: str | None) -> bytes:
        """What a step wrote into the night's folder; empty where that is no plain file of it."""
        if self.folder is None or not name or not PLAIN.fullmatch(name):
            return b""
        return read_regular(self.folder / name, MOST) or b""


@dataclass(frozen=True)
class Nights:
    """What is on a page.

    Attributes:
        seen: Nights, the newest first.
        damaged: Names of folders that no night could be read from, and why.
        older: How many nights there are beside those.
        fault: Why the history tells nothing; empty where it does.
    """

    seen: list[SeenNight]
    damaged: list[tuple[str, str]]
    older: int = 0
    fault: str = ""

    def lanes(self) -> list[str]:
        """Lanes of these nights, as the newest night has them, then others by name."""
        newest = list(self.seen[0].night.lanes) if self.seen else []
        others = {lane for each in self.seen for lane in each.night.lanes}
        return [*newest, *sorted(others - set(newest))]


def read_nights(places: Places, most: int = SHOWN) -> Nights:
    """Read the newest nights; what cannot be read is told, and keeps no other from being shown."""
    past = past_of(places, most)
    folders = {folder.name: folder for folder in _folders(places)}
    names = sorted(folders.keys() | {n for n in past.names if NAME.fullmatch(n)}, reverse=True)
    seen: list[SeenNight] = []
    damaged: list[tuple[str, str]] = []
    for name in names[:most]:
        found, folder = past.nights.get(name), folders.get(name)
        try:
            night = _read(folder) if folder else None
        except LanewrightError as error:
            damaged.append((name, str(error.__cause__ or error)))
            night = folder = None
        night = night or (_of_past(found) if found else None)
        if night and not _odd(name, night):
            lanes = {lane.lane: lane for lane in found.lanes} if found else {}
            seen.append(SeenNight(folder, night, newest=name == names[0], past=lanes))
    return Nights(seen, damaged, max(0, len(names) - most), past.fault)


def _folders(places: Places) -> Iterator[Path]:
    yield from (each for each in newest_nights(places) if NAME.fullmatch(each.name))


def _read(folder: Path) -> Night:
    night = read_night(folder)
    if odd := _odd(folder.name, night):
        raise LanewrightError(odd)
    return night


def _odd(name: str, night: Night) -> str:
    """What a night has that no night of ours has; empty where there is nothing."""
    if night.name != name:
        return "it has another night's name"
    named = [*night.lanes, *(step.lane for step in night.steps if step.lane is not None)]
    if not all(LANE_NAME.fullmatch(lane) for lane in named):
        return "it names a lane that no lane can be called"
    if not all(PLAIN.fullmatch(step.name) for step in night.steps):
        return "it names a step that no step is called"
    return ""


def _of_past(past: PastNight) -> Night:
    """A night of which the history alone tells; what its steps printed is gone."""
    facts = msgspec.structs.asdict(past)
    steps = [*past.steps, *(step for lane in past.lanes for step in lane.steps)]
    told = {
        **{name: facts[name] for name in ("name", "started", "finished", "lanewright", "project")},
        "commit": past.commit,
        "inputs": "",
        "lanes": [lane.lane for lane in past.lanes],
        "steps": [msgspec.structs.asdict(step) for step in steps],
    }
    return msgspec.convert(told, Night)
