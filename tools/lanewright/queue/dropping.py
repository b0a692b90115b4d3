"""A series with an entry, a file or a hunk less, or with a hunk recorded as landed."""

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import change_of
from lanewright.queue.choose import choose, units_named
from lanewright.queue.edit import with_entry_value, with_value, without_entry
from lanewright.queue.edited import read_text
from lanewright.queue.inputs import Choice, OverlayInput
from lanewright.queue.plan import plan_of
from lanewright.queue.selection import Part, hunk_name, index_of, without_part
from lanewright.queue.series import name_of
from lanewright.queue.units import OnBase, read_on_base
from lanewright.store.git import Repository


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
