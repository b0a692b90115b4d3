"""``lanewright status``: are locks, store, laid-out trees and images up to date."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.image.layout import layout_folder
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import in_store
from lanewright.queue.drift import drift
from lanewright.queue.lock import Lock, read_lock
from lanewright.queue.pair import read_pair
from lanewright.queue.series import load_series
from lanewright.queue.site import site_folder
from lanewright.queue.stopped import stopped_at
from lanewright.queue.unpinned import UnpinnedError, told_unpinned
from lanewright.queue.upkeep import PullStatus, pull_statuses
from lanewright.report.drift import told_drift
from lanewright.serve.record import read_latest
from lanewright.terminal import emit, emit_json, printable


class LaneStatus(msgspec.Struct, frozen=True):
    """Where a lane stands.

    Attributes:
        lane: Its name.
        pin: Its pin as the series says it.
        lock: ``up to date``, or what the series says that it does not.
        store: Whether its tree is in the store.
        tree: Folder where it is laid out, or None.
        layout: Folder where its image is, or None.
        last_run: When it was booted last, and the verdict; None where it never was.
        open: Hunks that the lock was written without, and that need a person.
        stopped: Where the last rebase of the lane stopped for a person, or None.
        stale: Fixes that were merged again, and that nobody has looked at since.
        pulls: How each carried pull request stands beside upstream's.
        next: Command to type, or None.
    """

    lane: str
    pin: str
    lock: str
    store: bool
    tree: Path | None
    layout: Path | None
    last_run: str | None
    open: int
    stopped: str | None
    stale: int
    pulls: list[PullStatus]
    next: str | None


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print the status of one lane, or of all."""
    lanes = [arguments.lane] if arguments.lane else project.lanes()
    found = [_status(project, places, lane) for lane in lanes]
    if arguments.json:
        emit_json(found)
        return ExitCode.CLEAN
    for status in found:
        emit(f"{status.lane} on {status.pin}")
        emit(f"  lock: {status.lock}")
        emit(f"  store: {'has the tree' if status.store else 'lacks the tree'}")
        emit(f"  laid out: {status.tree or 'no'}")
        emit(f"  image: {status.layout or 'no'}")
        emit(f"  last run: {status.last_run or 'never'}")
        if status.open:
            emit(f"  open: {status.open} hunks are not carried until a person settles them")
        if status.stopped:
            emit(f"  rebase: stopped on its way to {status.stopped}, for a person")
        if status.stale:
            emit(f"  stale: {status.stale} fixes were merged again, and wait for a look")
        for pull in status.pulls:
            emit("\n".join(_told(pull)))
        if status.next:
            emit(f"  next: {status.next}")
    return ExitCode.CLEAN


def _status(project: Project, places: Places, lane: str) -> LaneStatus:
    lock, state, pulls, pinning = _drifted(project, places, lane)
    stored = lock is not None and in_store(places, lock)
    site = site_folder(places, lock.pin, lock.tree) if lock else None
    layout = layout_folder(places, lock) if lock else None
    run = read_latest(places, lane)
    unsettled = sum(hunk.open for entry in (lock.entries if lock else []) for hunk in entry.hunks)
    stale = [e.name for e in (lock.entries if lock else []) for f in e.fixes if f.state == "stale"]
    following = f"lanewright resolve {stale[0]}{project.option(lane)}" if stale else None
    if lock and unsettled:
        first = next(e.name for e in lock.entries if any(hunk.open for hunk in e.hunks))
        following = f"lanewright resolve {first}{project.option(lane)}"
    stopped = stopped_at(project, lane)
    if stopped:
        following = f"lanewright rebase{project.option(lane)} --to {stopped.pin}"
    if any(pull.newest for pull in pulls):
        moved = next(pull.number for pull in pulls if pull.newest)
        following = f"lanewright add {moved} --update{project.option(lane)}"
    if state != "up to date" or not stored:
        following = pinning or f"lanewright build {lane}"
    return LaneStatus(
        lane=lane,
        pin=load_series(project, lane).pin,
        lock=state,
        store=stored,
        tree=site if site and site.exists() else None,
        layout=layout if layout and layout.exists() else None,
        last_run=f"{run['started']}, {run['verdict']}" if run else None,
        open=unsettled,
        stopped=stopped.pin if stopped else None,
        stale=len(stale),
        pulls=pulls,
        next=following,
    )


def _drifted(
    project: Project, places: Places, lane: str
) -> tuple[Lock | None, str, list[PullStatus], str | None]:
    """The lock, what the series says that it does not, its pull requests, what pins the others."""
    try:
        planned, lock = read_pair(project, lane)
    except UnpinnedError as error:
        return read_lock(project.lock_file(lane)), told_unpinned(error.numbers), [], error.hint
    pulls = pull_statuses(project, places, planned)
    return lock, drift(planned, lock) or "up to date", pulls, None


def _told(pull: PullStatus) -> Iterator[str]:
    """A pull request, and what its update did to each hunk."""
    merged = f"as {pull.merged_as[:12]}" if pull.merged_as else ""
    title = f"“{printable(pull.title)}”" if pull.title else ""
    facts = " ".join(filter(None, [pull.state, merged, title]))
    moved = f", upstream is at {pull.newest[:12]}" if pull.newest else ""
    yield f"  #{pull.number}: {facts}{', ' if facts else ''}carried at {pull.head[:12]}{moved}"
    if pull.note:
        yield f"    {printable(pull.note)}"
    for told in told_drift(pull.hunks):
        yield from (printable(f"  {line}") for line in told.splitlines())
