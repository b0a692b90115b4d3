"""What became of each unit of a patch on the tree it was merged onto."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lanewright.queue.landed import edited
from lanewright.queue.lock import HunkState, Outcome
from lanewright.queue.merge import merge_trees
from lanewright.queue.placement import misplaced
from lanewright.queue.regions import changed_regions
from lanewright.queue.subset import split_lines
from lanewright.queue.trying import tried
from lanewright.queue.units import OnBase, Unit
from lanewright.store.git import Repository
from lanewright.store.objects import File, files, read_blobs
from lanewright.store.trees import flat_trees
from lanewright.store.write import store_files


@dataclass(frozen=True)
class State:
    """A unit's outcome, and why where the files' history alone does not tell."""

    outcome: Outcome
    why: str = ""
    open: bool = False
    difference: str = ""


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
        elif here is None and base is not None and not _removes(on_base, unit):
            states[unit.id] = State("file missing", open=True)
        else:
            moved.append(unit)
    states |= _one_by_one(repository, on_base, moved, current)
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


def _removes(on_base: OnBase, unit: Unit) -> bool:
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


def _one_by_one(
    repository: Repository, on_base: OnBase, units: list[Unit], current: Mapping[str, File]
) -> dict[str, State]:
    """Merge each unit alone, all in one call: unit ``n`` has its three sides at the path ``n``.

    A unit that git would merge into another place than its own is a conflict too.
    """
    if not units:
        return {}
    each_tried = tried(repository, on_base, units, current)
    named = {str(number): each for number, each in enumerate(each_tried)}
    here = {name: each.ours for name, each in named.items()}
    bases = {name: each.base for name, each in named.items()}
    alone = {name: each.theirs for name, each in named.items()}
    base, ours, theirs = flat_trees(repository, [bases, here, store_files(repository, alone)])
    merge = merge_trees(repository, base, ours, theirs)
    result = {n: file for n, file in files(repository, merge.tree).items() if n in named}
    blobs = read_blobs(repository, [file.blob for file in result.values()])
    paths = {name: each.unit.path for name, each in named.items()}
    wanted = changed_regions(
        repository, base, theirs, {n: (paths[n], each.raw) for n, each in alone.items() if each}
    )
    got = changed_regions(
        repository, ours, merge.tree, {n: (paths[n], blobs[f.blob]) for n, f in result.items()}
    )
    states: dict[str, State] = {}
    for name, each in named.items():
        after = result.get(name)
        unit = each.unit
        why = ""
        if unit.hunk and after and name not in merge.conflicts:
            merged = split_lines(blobs[after.blob])
            whole = each.window.whole(merged) if each.window else merged
            places = (wanted.get(name, set()), got.get(name, set()))
            why = misplaced(unit.hunk, each.texts, whole, *places)
        if name in merge.conflicts or why:
            states[unit.id] = State("conflict", why, open=True)
        elif after == each.ours:
            states[unit.id] = State("landed")
        else:
            states[unit.id] = State("merged")
    return states
