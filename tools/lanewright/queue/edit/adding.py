"""A series with one more pull request, one more part of one, or one at its new head."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lanewright.errors import ConflictError, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit.edit import with_entry, with_entry_value
from lanewright.queue.edit.edited import read_text
from lanewright.queue.edit.pinning import pinned_in_place
from lanewright.queue.edit.selection import Part, index_of, only, with_part
from lanewright.queue.guard.allowing import allowed, still_allowed
from lanewright.queue.inputs import PullInput, pull_input
from lanewright.queue.merge.choose import choose, recorded_units, units_named
from lanewright.queue.merge.units import OnBase
from lanewright.queue.pull.drifted import Drifted, drifted
from lanewright.queue.pull.offered import NUMBER, offered, other_pulls, unexpected
from lanewright.queue.pull.pulls import Pinned, pin_pull, read_pull, still_stacked
from lanewright.queue.series import name_of
from lanewright.report.drift import told_drift
from lanewright.report.outcome import counted
from lanewright.store.objects import CommitId
from lanewright.terminal import quoted


@dataclass(frozen=True)
class Edited:
    """An edit of a series.

    Attributes:
        text: The series as it will be.
        entries: The entries that it is about.
        told: What a person should know of it.
    """

    text: str
    entries: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def added(
    project: Project,
    places: Places,
    lane: str,
    text: str,
    parts: Sequence[Part],
    *,
    update: bool = False,
    allow: Sequence[str] = (),
) -> Edited:
    """The series with parts more; where it is an update, entries that are named alone move first.

    Where rules are allowed to be broken, an entry that is carried may be named for that alone.

    Raises:
        ConflictError: As ``_updated`` says.
        LanewrightError: One is carried already, or cannot be had; or nothing is there to update.
    """
    moving = [part for part in parts if update and not part.path]
    if update and not moving:
        raise _no_pull(lane, parts[0])
    edited = Edited(text)
    for part in [*moving, *(part for part in parts if part not in moving)]:
        index = index_of(read_text(project, lane, edited.text), part.entry)
        if allow and index is not None and not part.path and part not in moving:
            edited = replace(edited, entries=(*edited.entries, part.entry))
            continue
        edit = _updated if part in moving else _added
        each = edit(project, places, lane, edited.text, part)
        edited = Edited(each.text, edited.entries + each.entries, edited.told + each.told)
    if allow:
        series = read_text(project, lane, edited.text)
        named = [n for part in parts if (n := index_of(series, part.entry)) is not None]
        text = allowed(project, places, lane, edited.text, named, allow)
        edited = replace(edited, text=text)
    return edited


def _added(project: Project, places: Places, lane: str, text: str, part: Part) -> Edited:
    """The series with a part more.

    Raises:
        LanewrightError: It is carried already, or cannot be had.
    """
    series = read_text(project, lane, text)
    index = index_of(series, part.entry)
    if index is None:
        return _new(project, places, lane, text, part)
    spec = series.entry[index]
    place = _place(lane, index)
    if not spec.is_pinned:
        text, told = pinned_in_place(project, places, lane, text, index)
        if not part.path:
            return Edited(text, (name_of(spec),), told)
        more = _added(project, places, lane, text, part)
        return Edited(more.text, more.entries, (*told, *more.told))
    if not part.path and spec.pull is not None and spec.select:
        chosen = counted(len(spec.select), "part")
        line = f"{part.entry}: all of it from now on, in place of {chosen}"
        return Edited(with_entry_value(text, index, "select", None), (name_of(spec),), (line,))
    if not part.path:
        newest = f"lanewright add {part.entry} --update{project.option(lane)}"
        raise LanewrightError(
            f"{place}: {part.entry} is carried already",
            hint=f"{newest} moves it to its newest head" if spec.pull is not None else None,
        )
    if spec.pull is None:
        raise LanewrightError(f"{place}: {part.entry} is an own patch; edit its `select`")
    on_base = read_pull(
        project, places, spec.pull, CommitId(spec.base or ""), CommitId(spec.head or "")
    )
    select = with_part(spec, on_base, part, place)
    return Edited(with_entry_value(text, index, "select", select), (name_of(spec),))


def _updated(project: Project, places: Places, lane: str, text: str, part: Part) -> Edited:
    """The series with a pull request at its newest head, and its choice carried along.

    Raises:
        ConflictError: A chosen hunk is gone, so a person must say what becomes of it.
        LanewrightError: It is not carried, or cannot be had.
    """
    series = read_text(project, lane, text)
    index = index_of(series, part.entry)
    spec = series.entry[index] if index is not None else None
    if index is None or spec is None or spec.pull is None or part.path:
        raise _no_pull(lane, part)
    if not spec.is_pinned:
        return _added(project, places, lane, text, part)
    given = pull_input(project, name_of(spec), spec, _place(lane, index))
    pinned = pin_pull(project, places, spec.pull, other_pulls(project, series, spec.pull))
    if still_stacked(places, given.base, pinned):
        pinned = replace(pinned, base=given.base)
    if (pinned.head, pinned.base) == (given.head, given.base):
        return Edited(text, (given.name,), (f"{given.name} is at its newest head",))
    before = read_pull(project, places, spec.pull, given.base, given.head)
    after = read_pull(project, places, spec.pull, pinned.base, pinned.head)
    chosen = choose(before, given.choice, given.place)
    found = drifted(before, chosen, after)
    recorded = recorded_units(before, given.choice, chosen, given.place)
    gone = [each for each in found if each.what == "gone" and each.id not in recorded]
    if gone and spec.select:
        raise ConflictError(
            "\n".join(
                [f"{given.place}: hunks that are chosen are gone from #{spec.pull}:"]
                + [f"  {each.path}:{each.id}" for each in gone]
            ),
            hint=f"lanewright drop {quoted(f'{spec.pull}:{gone[0].path}:{gone[0].id}')}, then update again",
        )
    text = with_entry_value(text, index, "head", pinned.head)
    text = with_entry_value(text, index, "base", pinned.base)
    if spec.select:
        select = _carried(before, spec.select, found)
        if not select:
            raise ConflictError(
                f"{given.place}: all that is chosen has landed and is gone from #{spec.pull}",
                hint=f"lanewright drop {spec.pull}",
            )
        text = with_entry_value(text, index, "select", select)
    if spec.landed:
        landed = _carried(before, spec.landed, found)
        text = with_entry_value(text, index, "landed", landed or None)
    said = [_moved(pinned, given), *unexpected(project, places, series, pinned)]
    if spec.allow:
        kept, more = still_allowed(given, after)
        text = with_entry_value(text, index, "allow", kept or None)
        said += more
    return Edited(text, (given.name,), (*said, *told_drift(found)))


def _no_pull(lane: str, part: Part) -> LanewrightError:
    return LanewrightError(
        f"series/{lane}.toml has no pull request {part}",
        hint="name one by its number alone, as `lanewright list` shows it",
    )


def _new(project: Project, places: Places, lane: str, text: str, part: Part) -> Edited:
    if not NUMBER.fullmatch(part.entry):
        raise LanewrightError(
            f"series/{lane}.toml has no entry {part.entry!r}, and it is no pull request's number",
            hint=f"lanewright list {lane}",
        )
    series = read_text(project, lane, text)
    number = int(part.entry)
    place = f"series/{lane}.toml: pull {number}"
    found = offered(project, places, series, number)
    values: dict[str, object] = {"pull": number, "head": found.head, "base": found.base}
    if part.path:
        values["select"] = only(found.on_base, part, place)
    return Edited(with_entry(text, values), (str(number),), found.told)


def _place(lane: str, index: int) -> str:
    return f"series/{lane}.toml: entry {index + 1}"


def _carried(before: OnBase, names: Sequence[str], found: Sequence[Drifted]) -> list[str]:
    """Names of files and hunks as they are now; without those that are gone."""
    now = {each.id: each.now or each.id for each in found if each.what not in {"gone", "new"}}
    carried = []
    for name in names:
        left = [unit for unit in units_named(before.units, name) if unit.id in now]
        if left:
            path = left[0].path
            carried.append(path if name == path else f"{path}:{now[left[0].id]}")
    return carried


def _moved(pinned: Pinned, given: PullInput) -> str:
    return f"#{pinned.number}: {given.head[:12]} -> {pinned.head[:12]}, on {pinned.base[:12]}"
