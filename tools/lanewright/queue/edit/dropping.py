"""A series with an entry, a file or a hunk less, or with a hunk recorded as landed."""

from collections.abc import Sequence

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import change_of
from lanewright.queue.edit.edit import with_entry_value, with_value, without_entry
from lanewright.queue.edit.edited import Tried, read_text, try_text
from lanewright.queue.edit.selection import Part, hunk_name, index_of, without_part
from lanewright.queue.inputs import Choice, OverlayInput
from lanewright.queue.lock import LockedEntry, Outcome
from lanewright.queue.merge.choose import choose, units_named
from lanewright.queue.merge.units import OnBase, read_on_base
from lanewright.queue.move.stopped import stopped_at
from lanewright.queue.move.target import with_target
from lanewright.queue.plan import plan_of
from lanewright.queue.series import name_of
from lanewright.store.git import Repository
from lanewright.terminal import quoted


def dropped(project: Project, places: Places, lane: str, text: str, part: Part) -> str:
    """The series without a part.

    Raises:
        LanewrightError: It is not carried.
    """
    index, on_base = _find(project, places, lane, text, part)
    if on_base is None:
        return _without(project, lane, text, index)
    spec = read_text(project, lane, text).entry[index]
    place = f"series/{lane}.toml: entry {index + 1}"
    select = without_part(spec, on_base, part, place)
    if not select:
        return _without(project, lane, text, index)
    text = with_entry_value(text, index, "select", select)
    if spec.landed:
        kept = choose(on_base, Choice(tuple(select), split=True), place)
        left = [
            name for name in spec.landed if {u.id for u in units_named(on_base.units, name)} <= kept
        ]
        text = with_entry_value(text, index, "landed", left or None)
    return text


def _without(project: Project, lane: str, text: str, index: int) -> str:
    """The series without an entry, and without the seams at which it was plugged in."""
    series = read_text(project, lane, text)
    name = name_of(series.entry[index])
    text = without_entry(text, index)
    for seam, used in series.seams.items():
        if used == name:
            text = with_value(text, ("seams", seam), None)
    return text


def recorded_landed(project: Project, places: Places, lane: str, text: str, part: Part) -> str:
    """The series with a hunk recorded as landed with edits.

    Raises:
        LanewrightError: It is no hunk that is carried.
    """
    index, on_base = _find(project, places, lane, text, part)
    place = f"series/{lane}.toml: entry {index + 1}"
    if on_base is None:
        raise LanewrightError(f"{place}: name one hunk, as {part.entry}:PATH:HUNK")
    spec = read_text(project, lane, text).entry[index]
    name = hunk_name(on_base, part, place)
    if any(name.startswith(each) for each in spec.landed or ()):
        raise LanewrightError(f"{place}: {name} is recorded as landed already")
    return with_entry_value(text, index, "landed", [*(spec.landed or ()), name])


def require_landed(project: Project, places: Places, tried: Tried, parts: Sequence[Part]) -> None:
    """See that upstream has something of each hunk that is recorded as landed.

    That may be where a rebase of the lane stopped, and not on its own pin yet.

    Raises:
        LanewrightError: One is carried as it is, here and there: it could only be dropped.
    """
    lane = tried.planned.lane
    as_it_is = _as_it_is(tried, parts)
    stopped = stopped_at(project, lane) if as_it_is else None
    if stopped:
        text = with_target(tried.text, tried.planned.series, stopped)
        there = _as_it_is(try_text(project, places, lane, text, keep_going=True), parts)
        as_it_is = {part: outcome for part, outcome in as_it_is.items() if part in there}
    for part, outcome in as_it_is.items():
        raise LanewrightError(
            f"lane {lane}: {part} is {outcome}, so upstream has nothing of it to record as landed;"
            " nothing is written",
            hint=f"to carry it no more: lanewright drop {quoted(str(part))}{project.option(lane)}",
        )


def _as_it_is(tried: Tried, parts: Sequence[Part]) -> dict[Part, Outcome]:
    """The hunks that are carried as they are, and what became of them."""
    return {
        part: hunk.outcome
        for entry in tried.applied.lock.entries
        for part in parts
        for hunk in entry.hunks
        if part.entry in _names(entry)
        and hunk.path == part.path
        and hunk.id.startswith(part.hunk)
        and hunk.outcome in {"clean", "merged"}
    }


def _names(entry: LockedEntry) -> set[str]:
    return {entry.name, *([str(entry.pull.number)] if entry.pull else [])}


def _find(
    project: Project, places: Places, lane: str, text: str, part: Part
) -> tuple[int, OnBase | None]:
    """Where the entry is, and its change where a part of it is meant."""
    series = read_text(project, lane, text)
    index = index_of(series, part.entry)
    if index is None:
        raise LanewrightError(
            f"series/{lane}.toml has no entry {part.entry!r}", hint=f"lanewright list {lane}"
        )
    if not part.path:
        return index, None
    planned = plan_of(project, lane, series)
    given = planned.inputs[index]
    if isinstance(given, OverlayInput):
        raise LanewrightError(f"{given.place}: {part.entry} is an overlay, and has no parts")
    change, _ = change_of(project, places, planned, given)
    repository = Repository(places.objects)
    return index, read_on_base(repository, change.diff, change.base, change.base_name)
