"""Results of entries that an earlier build had, so that nothing of them is made again.

Only plain ones are kept: whole changes and overlays that nobody needs to look at. What ``verify``
proves and ``report`` tells is never taken from here.
"""

from dataclasses import dataclass, field

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.carried import Carried, Known, brought_by, moved_by
from lanewright.queue.inputs import Input
from lanewright.queue.known.depends import Lane, digest_of, key_of
from lanewright.queue.lock import LockedEntry
from lanewright.store.memo import Memo
from lanewright.store.objects import File, TreeId, files
from lanewright.store.odb import objects_of
from lanewright.store.trees import edit_tree


class _Result(msgspec.Struct, frozen=True):
    """What is kept of an entry.

    Attributes:
        entry: What the lock says of it.
        files: What it makes of the tree before it.
        known: What else of its change is asked for.
    """

    entry: LockedEntry
    files: dict[str, File | None]
    known: Known


@dataclass
class Memory:
    """The results that a lane's build may use, asked for entry by entry.

    Attributes:
        lane: What they all depend on.
        is_used: Whether any are taken and kept.
    """

    lane: Lane
    is_used: bool
    _before: str = field(default="", init=False)
    _key: str | None = field(default=None, init=False)
    _learnt: bool = field(default=False, init=False)

    def carried(self, given: Input, tree: TreeId) -> Carried | None:
        """What an entry comes to on a tree; None where that is not known."""
        self._key = key_of(self.lane, given, tree, self._before) if self.is_used else None
        raw = self._memo.read(self._key) if self._key else None
        if raw is None:
            return None
        try:
            found = msgspec.json.decode(raw, type=_Result)
            made = edit_tree(self.lane.repository, tree, found.files)
        except (msgspec.MsgspecError, LanewrightError):  # the store has lost what it says
            return None
        subset = found.entry.subset
        if made != found.entry.tree or (subset and subset not in objects_of(self.lane.repository)):
            return None
        return Carried(found.entry, known=found.known)

    def passed(self, given: Input, tree: TreeId, carried: Carried) -> None:
        """Keep what an entry came to on a tree, if it is new and plain, and go on to the next."""
        if not self.is_used:
            return
        moved = moved_by(self.lane.repository, tree, carried)
        if not carried.known and _is_plain(carried):
            # Before it was carried, the store may have lacked a source of it.
            key = self._key or key_of(self.lane, given, tree, self._before)
            present = files(self.lane.repository, carried.entry.tree, moved) if moved else {}
            after = {path: present.get(path) for path in moved}
            known = Known(moved, tuple(brought_by(carried)))
            self._learn(key, _Result(carried.entry, after, known))
        self._before = digest_of([self._before, given.name, repr(list(moved))])

    def _learn(self, key: str | None, result: _Result) -> None:
        try:
            content = msgspec.json.encode(result)
        except UnicodeEncodeError:  # it has a path that is no text
            return
        if key:
            self._memo.write(key, content)
            self._learnt = True

    def close(self) -> None:
        """Keep what is known within its bounds, where anything came to it."""
        if self._learnt:
            self._memo.prune()

    @property
    def _memo(self) -> Memo:
        return Memo(self.lane.places.known)


def _is_plain(carried: Carried) -> bool:
    """Whether nothing of it needs a person, or its change, once it is carried."""
    told = (carried.conflicts, carried.stale, carried.again, carried.unneeded, carried.refused)
    chosen = carried.chosen
    whole = chosen is None or (chosen.taken >= chosen.offered and not chosen.ops)
    return whole and not any(told) and not any(state.open for state in carried.entry.hunks)
