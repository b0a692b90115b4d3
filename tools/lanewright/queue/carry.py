"""Put one entry of a series onto a tree."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.gates import GateError, check_file
from lanewright.queue.inputs import OverlayInput, PatchInput
from lanewright.queue.lock import HunkState, LockedEntry
from lanewright.queue.merge import Merge, merge_trees
from lanewright.queue.outcomes import outcomes
from lanewright.queue.pin import Pin
from lanewright.queue.units import OnBase, choose, read_on_base, subset_tree
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, changes, files, read_blobs
from lanewright.store.write import Content, edit_tree, store_files


@dataclass(frozen=True)
class Carried:
    """An entry, carried or not.

    Attributes:
        entry: What the lock says of it.
        conflicts: Paths that need a person; the entry's tree is unchanged where there are any.
    """

    entry: LockedEntry
    conflicts: frozenset[str]


def carry_overlay(repository: Repository, given: OverlayInput, tree: TreeId) -> Carried:
    """Lay an overlay's files into a tree.

    Raises:
        LanewrightError: A file of that name is already there, or one where a folder must be.
        GateError: A file is no valid Python.
    """
    contents = {file.path: Content(file.mode, file.content) for file in given.files}
    result = edit_tree(repository, tree, store_files(repository, contents))
    replaced = {path for path, (old, _) in changes(repository, tree, result).items() if old}
    taken = replaced | files(repository, tree, list(contents)).keys()
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
    return Carried(entry, frozenset())


def carry_patch(
    repository: Repository,
    root: Path,
    given: PatchInput,
    base: Pin,
    pin: Pin,
    tree: TreeId,
    touched: Mapping[str, Sequence[str]],
) -> Carried:
    """Merge the chosen units of a patch, made on its own base, onto a tree.

    Args:
        repository: The store.
        root: The project's folder.
        given: The patch.
        base: What it was made against.
        pin: What the lane stands on.
        tree: The lane's tree so far.
        touched: Per path, the earlier entries that changed it.

    Raises:
        BaseMismatchError: The patch does not match its base.
        GateError: The merge is clean but a file came out wrong, or nothing changed.
    """
    on_base = read_on_base(repository, given.patch, base.tree, base.ref)
    chosen = choose(on_base, given.select, f"{given.place} ({given.name})")
    subset = subset_tree(repository, on_base, chosen)
    merge = merge_trees(repository, base.tree, tree, subset)
    causes = _causes(repository, on_base, pin, touched)
    states = outcomes(repository, on_base, chosen, tree, causes)
    states = _only_together(states, merge)
    states = _elsewhere(states, changes(repository, tree, merge.tree).keys() | merge.conflicts)
    conflicts = {state.path for state in states if state.outcome in {"conflict", "file missing"}}
    if not conflicts:
        _gate(repository, given, on_base, merge, tree, subset)
        landed = all(state.outcome in {"landed", "not selected"} for state in states)
        if merge.tree == tree and not landed:
            raise GateError(f"{given.place} ({given.name}): {len(chosen)} selected, 0 changed")
    entry = LockedEntry(
        name=given.name,
        kind="patch",
        source=given.patch.path.relative_to(root).as_posix(),
        digest=given.digest,
        base=base,
        subset=subset,
        tree=tree if conflicts else merge.tree,
        claims=list(given.claims),
        hunks=states,
    )
    return Carried(entry, frozenset(conflicts))


def _only_together(states: list[HunkState], merge: Merge) -> list[HunkState]:
    """Mark units that merge one by one, in a file that conflicts as a whole."""
    alone = {state.path for state in states if state.outcome in {"conflict", "file missing"}}
    why = "each hunk merges alone, but not together with the others"
    return [
        msgspec.structs.replace(state, outcome="conflict", cause=why)
        if state.path in merge.conflicts.keys() - alone and state.outcome != "not selected"
        else state
        for state in states
    ]


def _elsewhere(states: list[HunkState], touched: AbstractSet[str]) -> list[HunkState]:
    """Mark everything as in conflict where the merge touches a path that the patch does not.

    git follows a folder that it thinks was renamed, and then puts a new file there.
    """
    strays = touched - {state.path for state in states}
    if not strays or any(state.outcome in {"conflict", "file missing"} for state in states):
        return states
    why = f"git would change {min(strays)} instead, taking it for a renamed file or folder"
    return [
        msgspec.structs.replace(state, outcome="conflict", cause=why)
        if state.outcome != "not selected"
        else state
        for state in states
    ]


def _causes(
    repository: Repository, on_base: OnBase, pin: Pin, touched: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Per path, who changed it since the patch's base: upstream, earlier entries, or both."""
    upstream = files(repository, pin.tree, list(on_base.sides))
    causes = {}
    for path, base in on_base.sides.items():
        who = []
        if upstream.get(path) != base:
            who.append(f"upstream between {on_base.base_name} and {pin.ref}")
        who += [f"the entry {name}" for name in touched.get(path, ())]
        causes[path] = f"{path} was changed by {' and '.join(who)}" if who else ""
    return causes


def _gate(
    repository: Repository,
    given: PatchInput,
    on_base: OnBase,
    merge: Merge,
    ours: TreeId,
    theirs: TreeId,
) -> None:
    paths = list(on_base.sides)
    trees = [files(repository, tree, paths) for tree in (merge.tree, ours, theirs)]
    sides = [*trees, {path: side for path, side in on_base.sides.items() if side}]
    contents = read_blobs(repository, [file.blob for side in sides for file in side.values()])
    for path, file in trees[0].items():
        if trees[1].get(path) == file:
            continue
        before = [contents[side[path].blob] for side in sides[1:] if path in side]
        try:
            check_file(path, contents[file.blob], before)
        except GateError as error:
            raise GateError(
                f"{given.place} ({given.name}): {error}",
                hint=f"mend {given.patch.path.name}, or leave the hunk out with `select`",
            ) from error
