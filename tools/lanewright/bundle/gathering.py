"""All that a run, or a night and its runs, left behind, as it lies on disk."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lanewright.bundle.autotune import autotune_of
from lanewright.bundle.parts import Budget, LeftOut, Part, parts_of
from lanewright.bundle.private import PROJECT
from lanewright.bundle.recorded import Recorded, recorded
from lanewright.errors import LanewrightError
from lanewright.history.on_disk import RUN, OnDisk
from lanewright.nightly.night import Night, newest_nights, read_night
from lanewright.nightly.told import of_lane, reports
from lanewright.places import Places
from lanewright.project import LANE_NAME, Project
from lanewright.report.model import Report
from lanewright.serve.record import LOCK
from lanewright.store.regular import read_regular

# Bytes of a lock, or a report; a large one has some hundred thousand.
MOST = 2**24


@dataclass(frozen=True)
class RunFound:
    """A run.

    Attributes:
        recorded: What its record says.
        beside: Where its lock and its report are in the bundle, or why they are not.
        autotune: Digests of what it tuned.
    """

    recorded: Recorded
    beside: dict[str, str]
    autotune: list[str]


@dataclass
class Gathered:
    """What a bundle is made of.

    Attributes:
        name: Of the bundle: its archive's and its top folder's.
        night: The night that it is of; None where it is of a run.
        runs: The runs, in the night's order.
        parts: Files.
        left_out: What is not among them, and why.
        reports: Of lanes, by their names.
        roots: Folders that what is gathered names as its own, with what stands for each.
    """

    name: str
    night: Night | None = None
    runs: list[RunFound] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    reports: dict[str, Report] = field(default_factory=dict)
    roots: list[tuple[str, str]] = field(default_factory=list)


def gathered(places: Places, project: Project | None, one: OnDisk) -> Gathered:
    """Read a run or a night, and what else is known of it.

    Args:
        places: Has nights, of which one may have made the run.
        project: Has the lock, where that still is the run's.
        one: The run or night.

    Raises:
        LanewrightError: It is a night that cannot be read.
    """
    name = "-".join(("lanewright", *(("night",) if one.lane is None else ()), *one.key))
    made, budget = Gathered(name), Budget()
    if one.lane is None:
        _take_night(made, places, project, one.folder, budget)
        return made
    if night := _night_of(places, one):
        _take_reports(made, budget, *night, lanes=[one.lane])
    _take_run(made, project, one, budget)
    return made


def _take_night(
    made: Gathered, places: Places, project: Project | None, folder: Path, budget: Budget
) -> None:
    made.night = night = read_night(folder)
    made.roots.append((night.project, PROJECT))
    reports = _take_reports(made, budget, night, folder, lanes=night.lanes)
    for part in parts_of(folder, "night", budget):
        # A report is told apart.
        if part.name.removeprefix("night/") not in reports:
            _take(made, part)
    # Where a night was copied to, its runs may have been, too.
    state = folder.parent.parent
    for run in _runs_of(night, state if (state / "runs").is_dir() else places.state):
        if run.folder.is_dir() and not run.linked:
            _take_run(made, project, run, budget)
        else:
            made.left_out.append(LeftOut(f"runs/{'/'.join(run.key)}", "its folder is gone"))


def _take(made: Gathered, part: Part | LeftOut) -> None:
    if isinstance(part, Part):
        made.parts.append(part)
    else:
        made.left_out.append(part)


def _take_run(made: Gathered, project: Project | None, run: OnDisk, budget: Budget) -> None:
    found = recorded(run)
    made.roots += found.roots
    parts = [*parts_of(run.folder, f"runs/{'/'.join(run.key)}", budget)]
    for part in parts:
        _take(made, part)
    texts = [part for part in parts if isinstance(part, Part) and part.name.endswith(".log")]
    beside = {"lock": _lock(made, project, found, run), "report": _report(made, run)}
    made.runs.append(RunFound(found, beside, autotune_of(found, texts)))


def _lock(made: Gathered, project: Project | None, found: Recorded, run: OnDisk) -> str:
    """Where the run's lock is: beside its record, else the project's if it is that; or why not."""
    if found.record is None:
        return "not known"
    digest = found.record.lock
    own = f"runs/{'/'.join(run.key)}/{LOCK}"
    if any(each.name == own and _is(each.content, digest) for each in made.parts):
        return f"sha256:{digest}, {own}"
    if project is None:
        return f"sha256:{digest}; it is not here: there is no project"
    content = read_regular(project.lock_file(found.record.lane), MOST)
    if content is None or not _is(content, digest):
        return f"sha256:{digest}; it is not here: the project has another one, or none, by now"
    name = f"locks/{found.record.lane}.lock"
    if all(part.name != name for part in made.parts):
        made.parts.append(Part(name, content))
    return f"sha256:{digest}, {name}"


def _is(content: bytes, digest: str) -> bool:
    return hashlib.sha256(content).hexdigest() == digest


def _report(made: Gathered, run: OnDisk) -> str:
    name = f"reports/{run.lane}.json"
    if any(part.name == name for part in made.parts):
        return name
    return "none: no night that is here made this run, or it came to none"


def _take_reports(
    made: Gathered, budget: Budget, night: Night, folder: Path, *, lanes: list[str]
) -> set[str]:
    """Take what a night's reports printed; names of their files."""
    taken: set[str] = set()
    for lane, report in reports(night, folder):
        if lane not in lanes or not LANE_NAME.fullmatch(lane):
            continue
        (out,) = [step.out for step in of_lane(night, lane) if step.name == "report"][:1]
        file = Path(out or "").name
        content = read_regular(folder / file, MOST)
        if content is None or not budget.takes(len(content)):
            made.left_out.append(LeftOut(f"reports/{lane}.json", "it, or the bundle, is too large"))
            continue
        taken.add(file)
        made.reports[lane] = report
        made.parts.append(Part(f"reports/{lane}.json", content))
    return taken


def _runs_of(night: Night, state: Path) -> Iterator[OnDisk]:
    """The runs that a night's steps name, in their order."""
    named = dict.fromkeys((step.lane, step.run) for step in night.steps if step.lane and step.run)
    for lane, run in named:
        if lane and run and LANE_NAME.fullmatch(lane) and RUN.fullmatch(run):
            yield OnDisk(state / "runs" / lane / run, lane)


def _night_of(places: Places, run: OnDisk) -> tuple[Night, Path] | None:
    """The night that made a run, if one that is here did."""
    for folder in newest_nights(places):
        try:
            night = read_night(folder)
        except LanewrightError:
            # It is told by whatever is about nights.
            continue
        if any((step.lane, step.run) == run.key for step in night.steps):
            return night, folder
    return None
