"""``lanewright status``: are locks, store, laid-out trees and images up to date."""

from pathlib import Path

import msgspec

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.layout import layout_folder
from lanewright.image.onto.layout import image_folders
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import in_store
from lanewright.queue.drift import drift
from lanewright.queue.edit.unpinned import UnpinnedError, told_unpinned
from lanewright.queue.lock import Lock, read_lock
from lanewright.queue.move.held import held_in
from lanewright.queue.move.stopped import Stopped, resolve_command, stop_of
from lanewright.queue.pair import read_pair
from lanewright.queue.pull.upkeep import PullStatus, pull_statuses, with_place
from lanewright.queue.series import load_series
from lanewright.queue.site import site_folder
from lanewright.report.outcome import counted
from lanewright.report.standing import told_pull
from lanewright.serve.record import read_latest
from lanewright.terminal import emit, emit_json, quoted


class LaneStatus(msgspec.Struct, frozen=True):
    """Where a lane stands.

    Attributes:
        lane: Its name.
        pin: Its pin as the series says it.
        lock: ``up to date``, or what the series says that it does not.
        store: Whether its tree is in the store.
        tree: Folder where it is laid out, or None.
        layout: Folder where its layer is, or None.
        image: Folder where its image on a base is, the one that ``image`` tells; or None.
        last_run: When it was booted last, and the verdict; None where it never was.
        open: Hunks that need a person, and without whose entries the lock was written.
        left_out: Those entries.
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
    image: Path | None
    last_run: str | None
    open: int
    left_out: list[str]
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
        alone = f"layer only, {status.layout}" if status.layout else "no"
        emit(f"  image: {status.image or alone}")
        emit(f"  last run: {status.last_run or 'never'}")
        if status.open:
            names = status.left_out
            are = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
            hunks = counted(status.open, "hunk")
            emit(f"  open: {are} left out whole until a person settles {hunks}")
        if status.stopped:
            emit(f"  rebase: stopped on its way to {status.stopped}, for a person")
        if status.stale:
            emit(f"  stale: {status.stale} fixes were merged again, and wait for a look")
        for pull in status.pulls:
            emit("\n".join(told_pull(pull)))
        if status.next:
            emit(f"  next: {status.next}")
    return ExitCode.CLEAN


def _status(project: Project, places: Places, lane: str) -> LaneStatus:
    lock, state, pulls, pinning = _drifted(project, places, lane)
    stored = lock is not None and in_store(places, lock)
    site = site_folder(places, lock.pin, lock.tree) if lock else None
    layout = layout_folder(places, lock) if lock else None
    run = read_latest(places, lane)
    entries = lock.entries if lock else []
    left_out = {e.name: count for e in entries if (count := sum(hunk.open for hunk in e.hunks))}
    stale = [e.name for e in entries for f in e.fixes if f.state == "stale"]
    stop = stop_of(project, lane)
    current = state == "up to date" and stored
    following = pinning or _to_settle(project, lane, stop, list(left_out), current=current)
    if not following and stop:
        following = f"lanewright rebase --lane {lane} --to {quoted(stop.pin)}"
    if not following and not current:
        following = f"lanewright build {lane}"
    if not following and any(pull.newest for pull in pulls):
        moved = next(pull.number for pull in pulls if pull.newest)
        following = f"lanewright add {moved} --update{project.option(lane)}"
    if not following and stale:
        following = f"lanewright resolve {stale[0]}{project.option(lane)}"
    return LaneStatus(
        lane=lane,
        pin=load_series(project, lane).pin,
        lock=state,
        store=stored,
        tree=site if site and site.exists() else None,
        layout=layout if layout and layout.exists() else None,
        image=_image(project, places, lane, lock) if lock else None,
        last_run=f"{run['started']}, {run['verdict']}" if run else None,
        open=sum(left_out.values()),
        left_out=list(left_out),
        stopped=stop.pin if stop else None,
        stale=len(stale),
        pulls=pulls,
        next=following,
    )


def _image(project: Project, places: Places, lane: str, lock: Lock) -> Path | None:
    """The one image of a lock, of several that on the lane's own base."""
    found = image_folders(places, lock)
    if len(found) > 1:
        from lanewright.image.onto.standing import standing_image  # noqa: PLC0415 - it reads bases

        try:
            return standing_image(project, places, load_series(project, lane), lock)[0]
        except LanewrightError:  # told by whoever opens it
            pass
    return found[0] if found else None


def _to_settle(
    project: Project, lane: str, stop: Stopped | None, left_out: list[str], *, current: bool
) -> str | None:
    """What settles the first conflict: where a rebase stopped, of the series, or of the lock."""
    if stop and stop.entries:
        return resolve_command(project, lane, stop.entries[0], stop.pin)
    held = held_in(project, lane) if not current else ()
    waiting = [*held, *(left_out if current else ())]
    pin = load_series(project, lane).pin
    return resolve_command(project, lane, waiting[0], pin) if waiting else None


def _drifted(
    project: Project, places: Places, lane: str
) -> tuple[Lock | None, str, list[PullStatus], str | None]:
    """The lock, what the series says that it does not, its pull requests, what pins the others."""
    try:
        planned, lock = read_pair(project, lane)
    except UnpinnedError as error:
        return read_lock(project.lock_file(lane)), told_unpinned(error.numbers), [], error.hint
    pulls = [with_place(each, lock) for each in pull_statuses(project, places, planned)]
    return lock, drift(planned, lock) or "up to date", pulls, None
