"""Lanes taken to another pin: every entry tried, everything told, written only when it is clean."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edited import Tried, read_text, series_text, try_text
from lanewright.queue.lock import HunkState, Lock, LockedEntry, read_lock
from lanewright.queue.series import load_series
from lanewright.queue.target import Target, target_of, with_target
from lanewright.report.outcome import in_one_line
from lanewright.store.atomic import replace_file
from lanewright.transaction.journal import FOLDER
from lanewright.transaction.reading import of_one_state

STOPPED = "rebase.json"


@dataclass(frozen=True)
class Rebased:
    """One lane of a rebase.

    Attributes:
        lane: The lane.
        before: Its pin as it is.
        target: Where it is taken.
        old: Its lock as it is, if it has one.
        tried: What it comes to there.
    """

    lane: str
    before: str
    target: Target
    old: Lock | None
    tried: Tried

    @property
    def moves(self) -> bool:
        """Whether anything would change."""
        return self.old is None or self.old.seal != self.tried.applied.lock.seal

    @property
    def conflicts(self) -> bool:
        """Whether entries need a person."""
        return bool(self.tried.applied.conflicts)


def try_lane(
    project: Project, places: Places, lane: str, to: str | None, *, keep_going: bool
) -> Rebased:
    """Take a lane to its target, in the store alone.

    Raises:
        LanewrightError: The target or a source cannot be had.
    """
    text, old = of_one_state(
        project, lambda: (series_text(project, lane), read_lock(project.lock_file(lane)))
    )
    series = read_text(project, lane, text)
    target = target_of(project, places, lane, series, to)
    tried = try_text(
        project, places, lane, with_target(text, series, target), keep_going=keep_going
    )
    return Rebased(lane, series.pin, target, old, tried)


def told_rebase(rebased: Rebased) -> Iterator[str]:
    """What the rebase does to each entry, line by line."""
    yield f"lane {rebased.lane}: {rebased.before} -> {rebased.target.pin}"
    if rebased.target.image:
        yield f"  image {rebased.target.image.tag} {rebased.target.image.digest}"
    old = {entry.name: entry for entry in rebased.old.entries} if rebased.old else {}
    for carried in rebased.tried.applied.carried:
        entry = carried.entry
        before = old.get(entry.name)
        yield f"  {entry.name} ({entry.source})"
        yield f"    was {in_one_line(before) if before else 'not locked'}"
        yield f"    now {in_one_line(entry)}"
        yield from _turns(before, entry)
        yield from (f"    fix not needed here: {file}" for file in carried.unneeded)


def _turns(before: LockedEntry | None, now: LockedEntry) -> Iterator[str]:
    """Hunks whose outcome is another one now, and fixes."""
    known = {hunk.id: hunk for hunk in before.hunks} if before else {}
    for hunk in now.hunks:
        turn = _turn(known.get(hunk.id), hunk)
        if turn:
            cause = f"; {hunk.cause}" if hunk.cause else ""
            yield f"    {hunk.path}:{hunk.id} {turn}{cause}"
    for fix in now.fixes:
        yield f"    fix of {fix.path}: {fix.state} ({fix.file})"
    taken = [hunk for hunk in now.hunks if hunk.outcome != "not selected"]
    if taken and all(hunk.outcome in {"landed", "landed changed"} for hunk in taken):
        yield f"    all of it has landed: lanewright drop {now.name}"


def _turn(before: HunkState | None, now: HunkState) -> str:
    was = before.outcome if before else ""
    if was in {"landed", "landed changed"} and now.outcome in {"clean", "merged"}:
        return "was reverted upstream, and is carried again"
    if was == now.outcome and not now.open:
        return ""
    quiet = {"clean", "merged", "not selected", ""}
    if was in quiet and now.outcome in quiet:
        return ""
    return f"{was or 'new'} -> {now.outcome}"


class Stopped(msgspec.Struct, frozen=True):
    """Where a rebase of a lane stopped for a person.

    Attributes:
        before: The pin that it stood on.
        pin: The pin that it was taken to.
        release: The release that goes with it.
    """

    before: str
    pin: str
    release: str | None = None


def remember(project: Project, rebased: Sequence[Rebased]) -> None:
    """Keep where lanes stopped, so that ``resolve`` knows the pin that is meant.

    Hold the project for editing.
    """
    stopped = _stopped(project)
    for each in rebased:
        stopped.pop(each.lane, None)
        if each.conflicts:
            target = each.target
            stopped[each.lane] = Stopped(each.before, target.pin, target.release)
    file = project.root / FOLDER / STOPPED
    replace_file(
        file, msgspec.json.encode(stopped) + b"\n", scratch=file.with_name(f"{STOPPED}.new")
    )


def stopped_at(project: Project, lane: str) -> Target | None:
    """Where the last rebase of a lane stopped, if its pin is still the one that it left."""
    found = _stopped(project).get(lane)
    if found is None or load_series(project, lane).pin != found.before:
        return None
    return Target(found.pin, found.release)


def _stopped(project: Project) -> dict[str, Stopped]:
    file = project.root / FOLDER / STOPPED
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Stopped])
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, ValueError) as error:
        raise LanewrightError(f"{file} is damaged: {error}", hint=f"rm {file}") from error
