"""What became of each unit of a patch on the tree it was merged onto."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanewright.queue.lock import HunkState, Outcome
from lanewright.queue.merge import merge_trees
from lanewright.queue.outline import MARK
from lanewright.queue.regions import Region, changed_regions
from lanewright.queue.units import OnBase, Unit, with_units
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, files, read_blobs
from lanewright.store.write import flat_trees, store_files


@dataclass(frozen=True)
class State:
    """A unit's outcome, and why where the files' history alone does not tell."""

    outcome: Outcome
    why: str = ""


def outcomes(
    repository: Repository,
    on_base: OnBase,
    chosen: frozenset[str],
    ours: TreeId,
    causes: Mapping[str, str],
) -> list[HunkState]:
    """One state per unit, chosen or not.

    A unit is *landed* exactly when merging it alone changes nothing, *clean* when its file is
    still as the patch's base has it, *merged* when the file moved and git could merge the unit.

    Args:
        repository: The store.
        on_base: The patch on its own base.
        chosen: Ids of the units that are carried.
        ours: The tree they were merged onto.
        causes: Per path, who else changed it since the patch's base.
    """
    paths = [file.path for file in on_base.patch.files]
    current = files(repository, ours, paths)
    states: dict[str, State] = {}
    moved: list[Unit] = []
    for unit in on_base.units:
        base, here = on_base.sides[unit.path], current.get(unit.path)
        if unit.id not in chosen:
            states[unit.id] = State("not selected")
        elif base == here:
            states[unit.id] = State("clean")
        elif here is None and base is not None and not _removes(on_base, unit):
            states[unit.id] = State("file missing")
        else:
            moved.append(unit)
    states |= _one_by_one(repository, on_base, moved, current)
    return [
        HunkState(
            id=unit.id,
            path=unit.path,
            symbol=unit.symbol,
            lines=unit.lines,
            outcome=states[unit.id].outcome,
            cause=_cause(states[unit.id], causes.get(unit.path, "")),
        )
        for unit in on_base.units
    ]


def _cause(state: State, who: str) -> str:
    if state.outcome in {"clean", "not selected"}:
        return ""
    return "; ".join(filter(None, [state.why, who]))


def _removes(on_base: OnBase, unit: Unit) -> bool:
    return any(
        file.path == unit.path and file.new_mode is None and file.old_mode is not None
        for file in on_base.patch.files
    )


def _one_by_one(
    repository: Repository, on_base: OnBase, units: list[Unit], current: Mapping[str, File]
) -> dict[str, State]:
    """Merge each unit alone, all in one call: unit ``n`` has its three sides at the path ``n``.

    A unit that git would merge into another definition than its own is a conflict too.
    """
    if not units:
        return {}
    named = {str(number): unit for number, unit in enumerate(units)}
    alone = {name: with_units(on_base, [unit.id])[unit.path] for name, unit in named.items()}
    here = {name: current.get(unit.path) for name, unit in named.items()}
    bases = {name: on_base.sides[unit.path] for name, unit in named.items()}
    base, ours, theirs = flat_trees(repository, [bases, here, store_files(repository, alone)])
    merge = merge_trees(repository, base, ours, theirs)
    result = files(repository, merge.tree)
    sides = [file for file in (*result.values(), *here.values()) if file]
    blobs = read_blobs(repository, [file.blob for file in sides])
    before = {name: blobs[file.blob] for name, file in here.items() if file}
    paths = {name: unit.path for name, unit in named.items()}
    wanted = changed_regions(
        repository, base, theirs, {n: (paths[n], each.raw) for n, each in alone.items() if each}
    )
    got = changed_regions(
        repository, ours, merge.tree, {n: (paths[n], blobs[f.blob]) for n, f in result.items()}
    )
    states: dict[str, State] = {}
    for name, unit in named.items():
        several = _fits_several(on_base, unit, before.get(name, b""))
        strays = _strays(wanted.get(name, set()), got.get(name, set()), every_opening=several)
        if name in merge.conflicts:
            states[unit.id] = State("conflict")
        elif result.get(name) == here[name]:
            states[unit.id] = State("landed")
        elif strays:
            states[unit.id] = State("conflict", _astray(strays, unit))
        else:
            states[unit.id] = State("merged")
    return states


def _fits_several(on_base: OnBase, unit: Unit, ours: bytes) -> bool:
    """Whether the lines that a hunk changes, with one line around, stand in several places."""
    if unit.hunk is None:
        return False
    base = on_base.contents[unit.path]
    first, last = unit.hunk.first_change, unit.hunk.last_change
    core = b"\n" + b"".join(base[max(first - 1, 0) : last + 1])
    return any((b"\n" + text).count(core) > 1 for text in (b"".join(base), ours))


def _strays(wanted: set[Region], got: set[Region], *, every_opening: bool) -> list[str]:
    """Places of a merge that are none of those that the hunk was made for.

    A hunk that would fit in several places must have every opening around it as it was; else
    the definitions around it must be the same.
    """
    if every_opening:
        known = {region.openings for region in wanted}
        return sorted(
            " / ".join(line.removeprefix(MARK) for line in region.openings)
            for region in got
            if region.openings not in known
        )
    names = {region.symbol for region in wanted}
    return sorted({region.symbol for region in got} - names)


def _astray(strays: list[str], unit: Unit) -> str:
    places = " and ".join(name or "the top level" for name in strays)
    return f"git would put it into {places} instead of {unit.symbol or 'the top level'}"
