"""A change to carry, and what became of an entry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lanewright.queue.fix.fixes import Fix
from lanewright.queue.fix.sides import Sides
from lanewright.queue.guard.rules import Finding
from lanewright.queue.lock import LockedEntry
from lanewright.queue.merge.units import OnBase
from lanewright.queue.patch.diff import Diff
from lanewright.store.bindings import Op
from lanewright.store.git import Repository
from lanewright.store.objects import File, TreeId, changes


@dataclass(frozen=True)
class Change:
    """A change to carry, and what it is a change of.

    Attributes:
        diff: The change.
        base: Tree that holds at least the changed files as they were.
        base_name: For messages.
        ops: Compiled ops that it binds in files which no lane has.
    """

    diff: Diff
    base: TreeId
    base_name: str
    ops: tuple[Op, ...] = ()


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
class Chosen:
    """What is taken of a change, and what could be.

    Attributes:
        on_base: The change.
        taken: Ids of the units that the lane takes from it.
        offered: Those and the ones that are not chosen.
        ops: Compiled ops that the change binds in files which no lane has.
    """

    on_base: OnBase
    taken: frozenset[str]
    offered: frozenset[str]
    ops: tuple[Op, ...] = ()

    @staticmethod
    def of(
        change: Change, on_base: OnBase, chosen: frozenset[str], dropped: AbstractSet[str]
    ) -> "Chosen":
        """What a choice comes to where some of it landed with edits."""
        offered = frozenset(unit.id for unit in on_base.units)
        return Chosen(on_base, chosen - dropped, offered - dropped, change.ops)


@dataclass(frozen=True)
class Known:
    """What stands for a change that was not read again.

    Attributes:
        moved: Paths that it changes, each with whether it brings the file.
        brings: What ``made_or_removed`` gives of it.
    """

    moved: Mapping[str, bool]
    brings: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Carried:
    """An entry, carried or not.

    Attributes:
        entry: What the lock says of it.
        conflicts: Files that need a person; the entry's tree is unchanged where there are any.
        stale: Files that a stale fix settles, so that a person should look at them.
        again: Fixes that were merged again, and are to be recorded.
        unneeded: Files of fixes for a path that merges without one, here, or has what it makes.
        chosen: What is taken of it; None of an overlay.
        refused: What of it a rule keeps out, so that it was not merged at all.
        known: What an earlier build found, so that its change was not read again.
    """

    entry: LockedEntry
    conflicts: tuple[Conflict, ...] = ()
    stale: tuple[Conflict, ...] = ()
    again: tuple[Fix, ...] = ()
    unneeded: tuple[str, ...] = ()
    chosen: Chosen | None = None
    refused: tuple[Finding, ...] = ()
    known: Known | None = None


def told_without(left_out: Sequence[str]) -> str:
    """What is said of an entry that comes after ones in conflict."""
    are = "is" if len(left_out) == 1 else "are"
    names = " and ".join(left_out)
    return f"tried without {names}, which {are} in conflict; that may change what follows"


def moved_by(repository: Repository, before: TreeId, carried: Carried) -> Mapping[str, bool]:
    """Paths that an entry changes of the tree before it, each with whether it brings the file."""
    if carried.known:
        return carried.known.moved
    moved = changes(repository, before, carried.entry.tree)
    return {path: old is None for path, (old, _) in moved.items()}


def brought_by(carried: Carried) -> Iterable[tuple[str, str, bool]]:
    """What ``made_or_removed`` gives of an entry's change."""
    if carried.known:
        return carried.known.brings
    return made_or_removed(carried.chosen) if carried.chosen else ()


def made_or_removed(chosen: Chosen) -> Iterator[tuple[str, str, bool]]:
    """Files that chosen hunks make or remove, each with one of them and whether it is made."""
    hunks = {unit.path: unit.id for unit in chosen.on_base.units if unit.id in chosen.taken}
    for file in chosen.on_base.diff.files:
        is_there = chosen.on_base.sides[file.path] is not None
        if file.path in hunks and is_there != (file.new_mode is not None):
            yield file.path, hunks[file.path], not is_there
