"""Parts of a lane put together and judged; no tree is judged twice."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.closure.unclosed import ClosureError
from lanewright.queue.culprit.judge import Judge, Verdict
from lanewright.queue.culprit.parts import Piece, Pieces, told, with_pieces
from lanewright.queue.plan import Plan
from lanewright.store.complaint import RemoteError
from lanewright.store.git import GitError
from lanewright.store.objects import TreeId
from lanewright.terminal import printable, say

NAMED = 3


@dataclass(frozen=True)
class Tried:
    """What is known of some parts.

    Attributes:
        number: In which try it was found.
        verdict: What the command said, if it could be asked.
        tree: What it was asked of; None where the parts do not make one.
        why: Why not.
        without: Those of them that cannot be there either, as they need what is left out.
    """

    number: int
    verdict: Verdict
    tree: TreeId | None = None
    why: str = ""
    without: frozenset[Piece] = frozenset()


@dataclass
class Trials:
    """All that was tried so far.

    Attributes:
        project: The user's project.
        places: Store and state.
        planned: The lane as its series has it.
        pieces: All its parts.
        judge: Who says what a tree is.
        known: By parts.
        smallest: The smallest set that is bad, so far.
    """

    project: Project
    places: Places
    planned: Plan
    pieces: Pieces
    judge: Judge
    known: dict[frozenset[Piece], Tried] = field(default_factory=dict)
    smallest: Pieces | None = None

    def judged(self, some: Iterable[Piece], what: str) -> Tried:
        """Try some parts, if that was not done yet, and say so.

        Args:
            some: The parts.
            what: What they are, for people.

        Raises:
            LanewrightError: The command gave no verdict, or the store lacks something.
        """
        wanted = frozenset(some)
        found = self.known.get(wanted)
        if found is None:
            found = self._tried(wanted, what)
            self.known[wanted] = found
        fewest = len(self.pieces) + 1 if self.smallest is None else len(self.smallest)
        if found.verdict == "bad" and len(wanted) < fewest:
            self.smallest = tuple(piece for piece in self.pieces if piece in wanted)
        return found

    def _tried(self, wanted: frozenset[Piece], what: str) -> Tried:
        number = len(self.known) + 1
        names = told(wanted, self.pieces)
        some = f" ({', '.join(names)})" if 0 < len(names) <= NAMED else ""
        say(printable(f"try {number}: {what}{some}"))
        tree, why, without = self._tree(wanted)
        if tree is None:
            say(printable(f"  untestable: {why}"))
            return Tried(number, "untestable", why=why, without=without)
        same = next((each for each in self.known.values() if each.tree == tree), None)
        if same:
            say(f"  {same.verdict}: the tree is that of try {same.number}")
            return replace(same, number=number)
        parts = [str(piece.part) for piece in self.pieces if piece in wanted]
        start = time.monotonic()
        verdict = self.judge.verdict(tree, parts)
        say(f"  {verdict} ({time.monotonic() - start:.1f} s)")
        why = "the command ended with 125" if verdict == "untestable" else ""
        return Tried(number, verdict, tree, why)

    def _tree(self, wanted: frozenset[Piece]) -> tuple[TreeId | None, str, frozenset[Piece]]:
        """The tree of some parts, or why they make none, and which of them cannot be there."""
        planned = with_pieces(self.planned, self.pieces, wanted)
        try:
            applied = apply_plan(self.project, self.places, planned, in_part=True)
        except (GitError, RemoteError):
            raise
        except ClosureError as error:
            return None, error.first, frozenset(p for p in wanted if p.is_among(error.users))
        except LanewrightError as error:
            return None, str(error).partition("\n")[0], frozenset()
        conflicts = [
            (each.entry.name, conflict) for each in applied.conflicts for conflict in each.conflicts
        ]
        if conflicts:
            name, first = conflicts[0]
            return None, f"{name} conflicts in {first.path}", frozenset()
        return applied.lock.tree, "", frozenset()
