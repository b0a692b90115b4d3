"""Lanes taken to another pin: every entry tried, everything told, written only when it is clean."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.carried import Carried, told_without
from lanewright.queue.edit.edited import Tried, read_text, series_text, try_text
from lanewright.queue.edit.unpinned import pin_command, told_unpinned, unpinned
from lanewright.queue.lock import HunkState, Lock, LockedEntry, is_open, read_lock
from lanewright.queue.move.stopped import Stopped, meant_target, resolve_command
from lanewright.queue.move.target import Target, with_target
from lanewright.queue.series import Series, load_series
from lanewright.report.outcome import in_one_line
from lanewright.terminal import quoted
from lanewright.transaction.reading import of_one_state


@dataclass(frozen=True)
class Rebased:
    """One lane of a rebase.

    Attributes:
        lane: The lane.
        series: What it says as it is.
        target: Where it is taken.
        old: Its lock as it is, if it has one.
        tried: What it comes to there.
    """

    lane: str
    series: Series
    target: Target
    old: Lock | None
    tried: Tried

    @property
    def before(self) -> str:
        """Its pin as it is."""
        return self.series.pin

    @property
    def moves(self) -> bool:
        """Whether anything would change."""
        return self.old is None or self.old.seal != self.tried.applied.lock.seal

    @property
    def conflicts(self) -> bool:
        """Whether entries need a person."""
        return bool(self.tried.applied.conflicts)


def stays(project: Project, lane: str, to: str | None) -> str | None:
    """Why a lane is passed over where all of them are taken, for people; None where it goes.

    A series that cannot be read goes: its error is told where it is tried.
    """
    try:
        series = load_series(project, lane)
    except LanewrightError:
        return None
    numbers = unpinned(series)
    if numbers and not project.lock_file(lane).exists():
        return f"it was never locked, and {told_unpinned(numbers)}\n  next: {pin_command(project, lane, numbers)}"
    if to or series.track is not None or not series.pin.startswith("git:"):
        return None
    return "it is on a commit, and no `track` says where it goes"


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
    target = meant_target(project, places, lane, series, to)
    # A lock that was written without them says all that it can, while it stays where it is.
    stays = old is not None and is_open(old) and old.pin.ref == target.pin
    tried = try_text(
        project, places, lane, with_target(text, series, target), keep_going=keep_going or stays
    )
    return Rebased(lane, series, target, old, tried)


def told_rebase(project: Project, rebased: Rebased, *, check: bool = False) -> Iterator[str]:
    """What the rebase does to each entry, line by line.

    Args:
        project: The user's project.
        rebased: What a lane comes to.
        check: Whether nothing of it is written, so that the lane stays on its pin.
    """
    yield f"lane {rebased.lane}: {rebased.before} -> {rebased.target.pin}"
    yield from _image(rebased)
    yield from _release(rebased)
    old = {entry.name: entry for entry in rebased.old.entries} if rebased.old else {}
    left_out: list[str] = []
    for carried in rebased.tried.applied.carried:
        entry = carried.entry
        before = old.get(entry.name)
        yield f"  {entry.name} ({entry.source})"
        yield f"    was {in_one_line(before) if before else 'not locked'}"
        yield f"    now {in_one_line(entry)}"
        yield from _turns(project, rebased, before, entry, check=check)
        yield from _words(project, rebased, entry, check=check)
        taken = [hunk for hunk in entry.hunks if hunk.outcome != "not selected"]
        if taken and all(hunk.outcome in {"landed", "landed changed"} for hunk in taken):
            option = project.option(rebased.lane)
            yield f"    all of it has landed: lanewright drop {entry.name}{option}"
        if not left_out:  # with those it may be needed after all
            yield from (f"    fix not needed here: {file}" for file in carried.unneeded)
        left_out += [entry.name] if carried.conflicts else []
    yield from _without(left_out, rebased.tried.applied.carried[-1:])


def _without(left_out: Sequence[str], last: Sequence[Carried]) -> Iterator[str]:
    """What entries were tried without, where any come after those in conflict."""
    if left_out and [each.entry.name for each in last] != list(left_out):
        yield f"  what comes after was {told_without(left_out)}"


def _image(rebased: Rebased) -> Iterator[str]:
    """What becomes of the image that the lane is served in."""
    before, now = (each.image for each in (rebased.series, rebased.tried.planned.series))
    if now and now.base:
        yield f"  image {now.base} {now.digest}"
    elif before and before.base:
        yield f"  image {before.base} is not of {rebased.target.pin}: taken out of [image]"


def _release(rebased: Rebased) -> Iterator[str]:
    """Which release goes with a commit, where no tag says it."""
    release = rebased.tried.planned.series.release
    if release and release == rebased.series.release and rebased.before != rebased.target.pin:
        yield f"  release = {release!r} stays: its compiled files and version go with the commit"


def _words(project: Project, rebased: Rebased, entry: LockedEntry, *, check: bool) -> Iterator[str]:
    """What a person may answer: where upstream seems to have a hunk, or a fix is stale."""
    lane, option = rebased.lane, project.option(rebased.lane)
    for hunk in entry.hunks:
        if hunk.open and hunk.outcome == "landed changed":
            yield from (f"      {line}" for line in hunk.difference.splitlines())
            yield f"    is that it? lanewright drop {quoted(f'{entry.name}:{hunk.path}:{hunk.id}')} --landed{option}"
    if any(fix.state == "stale" for fix in entry.fixes):
        command = f"lanewright resolve {entry.name}{option}"
        if check:
            command = resolve_command(project, lane, entry.name, rebased.target.pin)
        yield f"    look at what was merged again: {command}"


def _turns(
    project: Project,
    rebased: Rebased,
    before: LockedEntry | None,
    now: LockedEntry,
    *,
    check: bool,
) -> Iterator[str]:
    """Hunks whose outcome is another one now, and fixes."""
    known = {hunk.id: hunk for hunk in before.hunks} if before else {}
    for hunk in now.hunks:
        turn = _turn(known.get(hunk.id), hunk)
        if turn:
            cause = f"; {hunk.cause}" if hunk.cause else ""
            yield f"    {hunk.path}:{hunk.id} {turn}{cause}"
    for fix in now.fixes:
        if fix.state == "unneeded":
            continue  # told with those that are not needed for another reason
        if (project.root / fix.file).exists():
            place = fix.file
        elif check:
            place = f"would be written to {fix.file}"
        else:
            place = "to be recorded when the lane is written" if rebased.conflicts else fix.file
        yield f"    fix of {fix.path}: {fix.state} ({place})"


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


def stops(rebased: Sequence[Rebased]) -> dict[str, Stopped | None]:
    """Per lane, where it stopped for a person; None where it did not."""
    return {
        each.lane: Stopped(
            each.before,
            each.target.pin,
            each.target.release,
            tuple(found.entry.name for found in each.tried.applied.conflicts),
        )
        if each.conflicts
        else None
        for each in rebased
    }
