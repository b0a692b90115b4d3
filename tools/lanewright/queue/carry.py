"""Put a change of a series onto a tree: a patch, or chosen parts of a pull request."""

from collections.abc import Mapping, Sequence

import msgspec

from lanewright.queue.carried import Carried, Change, Chosen, Conflict
from lanewright.queue.fix.settled import locked_fixes, settle_files, with_fix
from lanewright.queue.fix.sides import Sides
from lanewright.queue.guard.guarding import refused_units
from lanewright.queue.inputs import ChangeInput
from lanewright.queue.lock import HunkState, LockedEntry
from lanewright.queue.merge.causes import causes_of
from lanewright.queue.merge.choose import choose, recorded_units, with_units
from lanewright.queue.merge.gated import check_settled, merge_faults
from lanewright.queue.merge.gates import GateError
from lanewright.queue.merge.lfs import with_pointers
from lanewright.queue.merge.merge import expect_merge, merge_trees
from lanewright.queue.merge.opened import blocked, in_the_way, only_together, refused
from lanewright.queue.merge.outcomes import outcomes
from lanewright.queue.merge.units import OnBase, read_on_base
from lanewright.queue.pin import Pin
from lanewright.queue.use.skipped import without_missing
from lanewright.store.git import Repository
from lanewright.store.objects import EMPTY, File, TreeId, files
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files


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
    present = {path: file for path, file in on_base.sides.items() if file}
    base = edit_tree(repository, EMPTY, present)
    onto = base if ours == present else edit_tree(repository, EMPTY, ours)
    whole = _subset(repository, on_base, base, chosen)
    expect_merge(repository, base, onto, whole[1])
    chosen, states = without_missing(
        given.choice,
        chosen,
        outcomes(repository, on_base, chosen, ours, upstream, causes, recorded),
    )
    dropped = {s.id for s in states if s.outcome == "landed changed" and not s.open}
    taken = Chosen.of(change, on_base, chosen, dropped)
    if found := refused_units(taken, states, given.choice, place):
        told = msgspec.structs.replace(blank, tree=tree, hunks=states)
        return Carried(told, chosen=taken, refused=found)
    return _merged(repository, given, blank, tree, (base, onto), taken, states, ours, causes)


def _merged(
    repository: Repository,
    given: ChangeInput,
    blank: LockedEntry,
    tree: TreeId,
    sides_to_merge: tuple[TreeId, TreeId],
    chosen: Chosen,
    states: list[HunkState],
    ours: Mapping[str, File],
    causes: Mapping[str, str],
) -> Carried:
    """The same once it is known what became of each unit."""
    place, on_base = f"{given.place} ({given.name})", chosen.on_base
    base, onto = sides_to_merge
    taken, subset = _subset(repository, on_base, base, chosen.taken)
    merge = merge_trees(repository, base, onto, subset)
    states = only_together(states, merge)
    if merge.conflicts and not any(state.open for state in states):
        raise GateError(f"{place}: git cannot merge {min(merge.conflicts)}, and no hunk is its own")
    no_place = in_the_way(repository, merge, tree, ours)
    states = blocked(states, no_place)
    theirs, together = files(repository, subset), files(repository, merge.tree)
    sides = {p: Sides(side, ours.get(p), theirs.get(p)) for p, side in on_base.sides.items()}
    opened = {state.path for state in states if state.open}
    wanted = [state for state in states if state.outcome != "not selected"]
    merged = {state.path: together.get(state.path) for state in wanted}
    merged = {path: file for path, file in merged.items() if path not in opened}
    faults = merge_faults(repository, place, _written(merged, ours), sides)
    states = refused(states, faults, causes)
    waiting = {path: sides[path] for path in sorted(opened | faults.keys())}
    settled = settle_files(repository, given, waiting, no_place)
    states = [with_fix(state, settled.get(state.path), sides[state.path]) for state in states]
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
        done = {"landed", "landed changed", "not selected", "file missing"}
        if result == tree and not all(state.outcome in done for state in states) and not settled:
            raise GateError(f"{place}: {len(wanted)} selected, 0 changed")
    entry = msgspec.structs.replace(
        blank,
        subset=subset,
        tree=result,
        hunks=states,
        fixes=locked_fixes(given, settled, {each.path for each in conflicts}),
    )
    in_place = {path for path, found in settled.items() if found.unneeded}
    needed = frozenset(waiting) - in_place
    unneeded = tuple(fix.file for fix in given.fixes if fix.recipe.path not in needed)
    again = tuple(found.again for found in settled.values() if found.again)
    return Carried(entry, conflicts, stale, again, unneeded, chosen)


def _subset(
    repository: Repository, on_base: OnBase, base: TreeId, chosen: frozenset[str]
) -> tuple[dict[str, Content | None], TreeId]:
    """The changed files with some units in place, and the base's tree with them."""
    taken = with_units(on_base, chosen)
    return taken, edit_tree(repository, base, store_files(repository, taken))


def _written(merged: Mapping[str, File | None], ours: Mapping[str, File]) -> dict[str, File]:
    """The files that are not as the lane has them, without those that are removed."""
    return {path: file for path, file in merged.items() if file and file != ours.get(path)}
