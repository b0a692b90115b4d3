"""What became of each unit of a patch on the tree it was merged onto."""

from collections.abc import Mapping
from dataclasses import replace

from lanewright.queue.lock import HunkState
from lanewright.queue.merge.alone import State, merged_alone
from lanewright.queue.merge.landed import edited
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.merge.trying import tried
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs


def outcomes(
    repository: Repository,
    on_base: OnBase,
    chosen: frozenset[str],
    current: Mapping[str, File],
    upstream: Mapping[str, File],
    causes: Mapping[str, str],
    recorded: frozenset[str] = frozenset(),
) -> list[HunkState]:
    """One state per unit, chosen or not.

    A unit is *clean* when its file is still as the patch's base has it. Else it is merged alone:
    *landed* when that changes nothing, *merged* when git can, *landed changed* when upstream has
    much the same there, and in *conflict* when git cannot merge it or would not put it where it
    was made for.

    Args:
        repository: The store.
        on_base: The patch on its own base.
        chosen: Ids of the units that are carried.
        current: The changed files as they are on the tree that it is merged onto.
        upstream: The same on the pin, before any entry.
        causes: Per path, who else changed it since the patch's base.
        recorded: Ids of units that a person took for landed with edits.
    """
    states: dict[str, State] = {}
    moved: list[Unit] = []
    for unit in on_base.units:
        base, here = on_base.sides[unit.path], current.get(unit.path)
        if unit.id not in chosen:
            states[unit.id] = State("not selected")
        elif base == here:
            states[unit.id] = State("clean")
        elif here is None and base is not None and not removes(on_base, unit):
            states[unit.id] = State("file missing", open=True)
        else:
            moved.append(unit)
    each_tried = tried(repository, on_base, moved, current)
    for each, state in zip(each_tried, merged_alone(repository, each_tried), strict=True):
        states[each.unit.id] = state
    states |= _with_edits(repository, on_base, states, upstream)
    for name in recorded & states.keys():
        states[name] = _decided(states[name])
    return [
        HunkState(
            id=unit.id,
            path=unit.path,
            symbol=unit.symbol,
            lines=unit.lines,
            outcome=states[unit.id].outcome,
            cause=_cause(states[unit.id], causes.get(unit.path, "")),
            open=states[unit.id].open,
            difference=states[unit.id].difference,
        )
        for unit in on_base.units
    ]


def _decided(state: State) -> State:
    """A unit that a person took for landed with edits: is that still so."""
    match state.outcome:
        case "landed changed":
            return replace(state, open=False, why="dropped: recorded as landed with edits")
        case "clean" | "merged":
            return replace(state, why="recorded as landed, but upstream no longer has it")
        case "conflict":
            return replace(state, why="recorded as landed, but upstream has another change there")
    return state


def _cause(state: State, who: str) -> str:
    if state.outcome in {"clean", "not selected"}:
        return state.why
    return "; ".join(filter(None, [state.why, who]))


def removes(on_base: OnBase, unit: Unit) -> bool:
    """Whether a unit's file is gone once the change is made."""
    return any(
        file.path == unit.path and file.new_mode is None and file.old_mode is not None
        for file in on_base.diff.files
    )


def _with_edits(
    repository: Repository,
    on_base: OnBase,
    states: Mapping[str, State],
    upstream: Mapping[str, File],
) -> dict[str, State]:
    """Of the units that conflict, those that upstream itself seems to have taken in with edits."""
    doubtful = [
        unit
        for unit in on_base.units
        if unit.hunk
        and unit.path in upstream
        and upstream[unit.path] != on_base.sides[unit.path]
        and states[unit.id] == State("conflict", open=True)
    ]
    theirs = {unit.path: upstream[unit.path].blob for unit in doubtful}
    blobs = read_blobs(repository, theirs.values()) if theirs else {}
    lines = {path: split_lines(blobs[blob]) for path, blob in theirs.items()}
    found = {
        unit.id: edited(unit.hunk, on_base.contents[unit.path], lines[unit.path])
        for unit in doubtful
        if unit.hunk
    }
    return {
        name: State("landed changed", open=True, difference=difference)
        for name, difference in found.items()
        if difference
    }
