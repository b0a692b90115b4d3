"""What became of each unit of a patch on the tree it was merged onto."""

from collections.abc import Mapping

from lanewright.queue.lock import HunkState, Outcome
from lanewright.queue.merge import merge_trees
from lanewright.queue.units import OnBase, Unit, with_units
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, files, store_files


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
    states: dict[str, Outcome] = {}
    moved: list[Unit] = []
    for unit in on_base.units:
        base, here = on_base.sides[unit.path], current.get(unit.path)
        if unit.id not in chosen:
            states[unit.id] = "not selected"
        elif base == here:
            states[unit.id] = "clean"
        elif here is None and base is not None and not _removes(on_base, unit):
            states[unit.id] = "file missing"
        else:
            moved.append(unit)
    states |= _one_by_one(repository, on_base, moved, current)
    return [
        HunkState(
            id=unit.id,
            path=unit.path,
            symbol=unit.symbol,
            lines=unit.lines,
            outcome=states[unit.id],
            cause=causes.get(unit.path, "") if states[unit.id] in NEEDS_CAUSE else "",
        )
        for unit in on_base.units
    ]


NEEDS_CAUSE = frozenset({"merged", "landed", "conflict", "file missing"})


def _removes(on_base: OnBase, unit: Unit) -> bool:
    return any(
        file.path == unit.path and file.new_mode is None and file.old_mode is not None
        for file in on_base.patch.files
    )


def _one_by_one(
    repository: Repository, on_base: OnBase, units: list[Unit], current: Mapping[str, File]
) -> dict[str, Outcome]:
    """Merge each unit alone, all in one call: unit ``n`` has its three sides at the path ``n``."""
    if not units:
        return {}
    named = {str(number): unit for number, unit in enumerate(units)}
    alone = {name: with_units(on_base, [unit.id])[unit.path] for name, unit in named.items()}
    ours = {name: current.get(unit.path) for name, unit in named.items()}
    merge = merge_trees(
        repository,
        _flat_tree(repository, {name: on_base.sides[u.path] for name, u in named.items()}),
        _flat_tree(repository, ours),
        _flat_tree(repository, store_files(repository, alone)),
    )
    result = files(repository, merge.tree)
    states: dict[str, Outcome] = {}
    for name, unit in named.items():
        if name in merge.conflicts:
            states[unit.id] = "conflict"
        elif result.get(name) == ours[name]:
            states[unit.id] = "landed"
        else:
            states[unit.id] = "merged"
    return states


def _flat_tree(repository: Repository, entries: Mapping[str, File | None]) -> TreeId:
    lines = [f"{file.mode} blob {file.blob}\t{name}\0" for name, file in entries.items() if file]
    output = repository.run("mktree", "-z", stdin="".join(lines).encode())
    return TreeId(output.stdout.decode().strip())
