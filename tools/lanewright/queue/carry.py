"""Put one entry of a series onto a tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.causes import causes_of
from lanewright.queue.choose import choose, recorded_units, with_units
from lanewright.queue.diff import Diff
from lanewright.queue.fixes import Fix, Settled, settle
from lanewright.queue.gated import check_settled, merge_faults
from lanewright.queue.gates import GateError, check_file
from lanewright.queue.inputs import ChangeInput, OverlayInput
from lanewright.queue.lfs import with_pointers
from lanewright.queue.lock import HunkState, LockedEntry, LockedFix
from lanewright.queue.merge import merge_trees
from lanewright.queue.opened import blocked, in_the_way, only_together, refused
from lanewright.queue.outcomes import outcomes
from lanewright.queue.pin import Pin
from lanewright.queue.sides import Sides
from lanewright.queue.units import read_on_base
from lanewright.store.git import Repository
from lanewright.store.objects import EMPTY, File, TreeId, at_or_below, changes, files
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files


@dataclass(frozen=True)
class Change:
    """A change to carry, and what it is a change of.

    Attributes:
        diff: The change.
        base: Tree that holds at least the changed files as they were.
        base_name: For messages.
    """

    diff: Diff
    base: TreeId
    base_name: str


@dataclass(frozen=True)
class Conflict:
    """A file that needs a person.

    Attributes:
        path: The file.
        sides: It on the entry's base, on the lane's tree so far, and with the chosen hunks.
        why: What the report says of its first open hunk.
        merged: What git merges it to, where git sees no conflict.
        remerged: What a fix that was merged again makes of it, to be looked at.
        taken: What the lane's tree has in its place, so that it can only be left out.
    """

    path: str
    sides: Sides
    why: str = ""
    merged: File | None = None
    remerged: File | None = None
    taken: str = ""


@dataclass(frozen=True)
class Carried:
    """An entry, carried or not.

    Attributes:
        entry: What the lock says of it.
        conflicts: Files that need a person; the entry's tree is unchanged where there are any.
        stale: Files that a stale fix settles, so that a person should look at them.
        again: Fixes that were merged again, and are to be recorded.
        unneeded: Files of fixes for a path that merges without one, here, or has what it makes.
    """

    entry: LockedEntry
    conflicts: tuple[Conflict, ...] = ()
    stale: tuple[Conflict, ...] = ()
    again: tuple[Fix, ...] = ()
    unneeded: tuple[str, ...] = ()


def carry_overlay(repository: Repository, given: OverlayInput, tree: TreeId) -> Carried:
    """Lay an overlay's files into a tree.

    Raises:
        LanewrightError: A file of that name is already there, or one where a folder must be.
        GateError: A file is no valid Python.
    """
    contents = {file.path: Content(file.mode, file.content) for file in given.files}
    result = edit_tree(repository, tree, store_files(repository, contents))
    replaced = {path for path, (old, _) in changes(repository, tree, result).items() if old}
    taken = replaced | at_or_below(repository, tree, list(contents)).keys()
    if taken:
        raise LanewrightError(
            f"{given.place} ({given.name}): {min(taken)} is already in the tree; an overlay adds"
            " files, it never replaces one",
            hint="change an existing file with an own patch",
        )
    for file in given.files:
        check_file(file.path, file.content, [])
    entry = LockedEntry(
        name=given.name,
        kind="overlay",
        source=given.source,
        digest=given.digest,
        tree=result,
        files=[file.path for file in given.files],
    )
    return Carried(entry)


def carry_change(
    repository: Repository,
    given: ChangeInput,
    change: Change,
    blank: LockedEntry,
    pin: Pin,
    tree: TreeId,
    touched: Mapping[str, Sequence[str]],
) -> Carried:
    """Merge the chosen units of a change, made on its own base, onto a tree.

    Only the files that it changes take part in the merge, so nothing else can move.

    Args:
        repository: The store.
        given: The entry.
        change: What it changes.
        blank: What the lock says of it so far.
        pin: What the lane stands on.
        tree: The lane's tree so far.
        touched: Per path, the earlier entries that changed it.

    Raises:
        BaseMismatchError: A patch does not match its base.
        GateError: A file is wrong as the entry itself has it or as a fix gives it, nothing
            changed, or git names a conflict that is none of the entry's.
    """
    place = f"{given.place} ({given.name})"
    on_base = read_on_base(repository, change.diff, change.base, change.base_name)
    chosen = choose(on_base, given.choice, place)
    recorded = recorded_units(on_base, given.choice, chosen, place)
    ours = files(repository, tree, on_base.sides)
    upstream = files(repository, pin.tree, on_base.sides)
    causes = causes_of(on_base, upstream, pin, touched)
    states = outcomes(repository, on_base, chosen, ours, upstream, causes, recorded)
    dropped = {s.id for s in states if s.difference and not s.open}
    present = {path: file for path, file in on_base.sides.items() if file}
    base = edit_tree(repository, EMPTY, present)
    taken = with_units(on_base, chosen - dropped)
    subset = edit_tree(repository, base, store_files(repository, taken))
    onto = base if ours == present else edit_tree(repository, EMPTY, ours)
    merge = merge_trees(repository, base, onto, subset)
    states = only_together(states, merge)
    if merge.conflicts and not any(state.open for state in states):
        raise GateError(f"{place}: git cannot merge {min(merge.conflicts)}, and no hunk is its own")
    no_place = in_the_way(repository, merge, tree, ours)
    states = blocked(states, no_place)
    theirs, together = files(repository, subset), files(repository, merge.tree)
    sides = {p: Sides(side, ours.get(p), theirs.get(p)) for p, side in on_base.sides.items()}
    opened = {state.path for state in states if state.open}
    merged = {unit.path: together.get(unit.path) for unit in on_base.units if unit.id in chosen}
    merged = {path: file for path, file in merged.items() if path not in opened}
    faults = merge_faults(repository, place, _written(merged, ours), sides)
    states = refused(states, faults, causes)
    waiting = sorted(opened | faults.keys())
    settled = {
        path: found
        for path in waiting
        if (found := settle(repository, given.fixes, path, sides[path]))
        and not (found.file and path in no_place)
    }
    states = [_with_fix(state, settled.get(state.path)) for state in states]
    states = with_pointers(states, taken)
    whys = {state.path: state.cause for state in reversed(states) if state.open}
    conflicts = tuple(
        Conflict(
            path,
            sides[path],
            whys[path],
            None if path in merge.conflicts else together.get(path),
            taken=no_place.get(path, ""),
        )
        for path in waiting
        if path not in settled
    )
    stale = tuple(
        Conflict(path, sides[path], remerged=found.file)
        for path, found in settled.items()
        if found.stale
    )
    fixed = {path: found.file for path, found in settled.items()}
    merged |= fixed
    result = tree
    if not conflicts:
        moved = {path: file for path, file in merged.items() if file != ours.get(path)}
        result = edit_tree(repository, tree, moved)
        check_settled(repository, place, _written(fixed, ours), sides)
        done = {"landed", "landed changed", "not selected"}
        if result == tree and not all(state.outcome in done for state in states) and not settled:
            raise GateError(f"{place}: {len(chosen)} selected, 0 changed")
    entry = msgspec.structs.replace(
        blank,
        subset=subset,
        tree=result,
        hunks=states,
        fixes=_locked_fixes(given, settled, {each.path for each in conflicts}),
    )
    again = tuple(found.again for found in settled.values() if found.again)
    in_place = {path for path, found in settled.items() if found.unneeded}
    needed = frozenset(waiting) - in_place
    unneeded = tuple(fix.file for fix in given.fixes if fix.recipe.path not in needed)
    return Carried(entry, conflicts, stale, again, unneeded)


def _written(merged: Mapping[str, File | None], ours: Mapping[str, File]) -> dict[str, File]:
    """The files that are not as the lane has them, without those that are removed."""
    return {path: file for path, file in merged.items() if file and file != ours.get(path)}


def _with_fix(state: HunkState, found: Settled | None) -> HunkState:
    if not found or not state.open:
        return state
    if found.unneeded:
        why = "; ".join(filter(None, ["its file is what its hand fix makes of it", state.cause]))
        return msgspec.structs.replace(state, outcome="landed changed", cause=why, open=False)
    return msgspec.structs.replace(
        state, outcome="fix stale" if found.stale else "fixed", open=False
    )


def _locked_fixes(
    given: ChangeInput, settled: Mapping[str, Settled], waiting: set[str]
) -> list[LockedFix]:
    """The fixes that were taken, and those of files that wait for a person."""
    taken = []
    for path, found in settled.items():
        # What an entry that waits would record is not written: its lock must not name it.
        fix = found.fix if waiting else found.recorded
        taken.append(LockedFix(path, fix.file, fix.digest, _state(found)))
    unfit = [
        LockedFix(fix.recipe.path, fix.file, fix.digest, "unfit")
        for fix in given.fixes
        if fix.recipe.path in waiting
    ]
    return [*taken, *unfit]


def _state(found: Settled) -> Literal["replayed", "stale", "unneeded"]:
    if found.unneeded:
        return "unneeded"
    return "stale" if found.stale else "replayed"
