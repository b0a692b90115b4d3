"""A night, step by step: each is written down before it runs and once it has ended."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lanewright import __version__
from lanewright.errors import LanewrightError
from lanewright.nightly.booted import Booted
from lanewright.nightly.inputs import commit_of, digest_of
from lanewright.nightly.night import Night, Step, newest_nights, nights, read_night, write_night
from lanewright.nightly.planning import keeping, planned, reopened
from lanewright.nightly.spending import Spending
from lanewright.nightly.stopped import naming_what_is_left, restore
from lanewright.places import Places
from lanewright.project import Project
from lanewright.serve.record import STAMP
from lanewright.serve.run import written
from lanewright.store.locking import held
from lanewright.terminal import say


def run_night(
    project: Project, places: Places, lanes: Sequence[str], *, resume: bool
) -> tuple[Path, Night]:
    """Try every lane; none keeps another from being tried.

    Args:
        project: The user's project.
        places: Has the nights.
        lanes: Which, in order.
        resume: Whether to go on with the newest night, if it was interrupted.

    Returns:
        The night's folder, and all that came of it.

    Raises:
        LanewrightError: There is no such lane; or the project has changed since the night that is
            to be resumed, or it was of other lanes.
    """
    for lane in lanes:
        project.series_file(lane)
    with held(lock_of(places), "spends a night", lane=", ".join(dict.fromkeys(lanes))):
        # What a killed one left stopped.
        restore_left(places)
        found = _interrupted(project, places, lanes) if resume else None
        if resume and not found:
            say("nothing to resume: no night was interrupted; one begins")
        folder, night = found or _begun(project, places, lanes)
        return folder, _spent(Spending(project, places, folder), night)


def lock_of(places: Places) -> Path:
    """Is locked while a night is spent."""
    return nights(places) / "night.lock"


def restore_left(places: Places) -> None:
    """Start again what a killed night left stopped, if one did.

    Raises:
        LanewrightError: It does not start.
    """
    with naming_what_is_left(places):
        restore(places, nights(places) / "restore.log")


def _begun(project: Project, places: Places, lanes: Sequence[str]) -> tuple[Path, Night]:
    now = datetime.now(UTC)
    folder = _new_folder(nights(places), now.strftime(STAMP))
    night = Night(
        name=folder.name,
        started=written(now),
        finished=None,
        lanewright=__version__,
        project=str(project.root),
        commit=commit_of(project),
        inputs=digest_of(project),
        lanes=list(dict.fromkeys(lanes)),
        steps=planned(project, [*dict.fromkeys(lanes)]),
    )
    write_night(folder, night)
    return folder, night


def _new_folder(parent: Path, name: str) -> Path:
    """A folder of its own, whoever else began in the same second."""
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _interrupted(
    project: Project, places: Places, lanes: Sequence[str]
) -> tuple[Path, Night] | None:
    folder = next(newest_nights(places), None)
    night = read_night(folder) if folder else None
    if not folder or not night or night.finished:
        return None
    begin = f"`lanewright nightly {' '.join(lanes)}` begins another"
    if night.lanes != [*dict.fromkeys(lanes)]:
        raise LanewrightError(
            f"the night that was interrupted, {night.name}, was of {', '.join(night.lanes)}",
            hint=f"lanewright nightly --resume {' '.join(night.lanes)}; {begin}",
        )
    if night.inputs != digest_of(project) or night.lanewright != __version__:
        raise LanewrightError(
            f"the project is not what it was when the night {night.name} was interrupted",
            hint=begin,
        )
    done = sum(step.verdict != "pending" for step in night.steps)
    say(f"night {night.name}: goes on behind {done} of {len(night.steps)} steps")
    steps = reopened(night.steps, Booted.of(project, night.lanes))
    return folder, msgspec.structs.replace(night, steps=steps)


def _spent(spending: Spending, night: Night) -> Night:
    folder, booted = spending.folder, Booted.of(spending.project, night.lanes)
    with naming_what_is_left(spending.places), spending.closing():
        for number, step in enumerate(night.steps):
            if step.verdict != "pending":
                continue
            if kept := keeping(step, night.steps, booted):
                why = f"{kept.name}: {kept.verdict}"
                left = msgspec.structs.replace(step, verdict="left out", why=why)
                night = _with(folder, night, number, left)
                continue
            many = len(night.steps)
            say(f"night {night.name}: step {number + 1} of {many}: {step.lane} {step.name}")
            begun = spending.started(step, number + 1)
            night = _with(folder, night, number, begun)
            ended = spending.run(begun, again=step.started is not None)
            night = _with(folder, night, number, ended)
    night = msgspec.structs.replace(night, finished=written(datetime.now(UTC)))
    write_night(folder, night)
    return night


def _with(folder: Path, night: Night, number: int, step: Step) -> Night:
    """The night with a step as it is now, on disk, too."""
    steps = [*night.steps]
    steps[number] = step
    night = msgspec.structs.replace(night, steps=steps)
    write_night(folder, night)
    return night
