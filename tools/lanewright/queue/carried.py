"""A change to carry, and what became of an entry."""

from dataclasses import dataclass

from lanewright.queue.diff import Diff
from lanewright.queue.fixes import Fix
from lanewright.queue.lock import LockedEntry
from lanewright.queue.sides import Sides
from lanewright.store.objects import File, TreeId


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
