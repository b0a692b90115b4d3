"""Three-tree merges without a work tree, from objects alone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from lanewright.store.git import GitError, Repository
from lanewright.store.objects import BlobId, CommitId, File, TreeId, changes, files
from lanewright.store.write import siblings

CLEAN = "1"


@dataclass(frozen=True)
class Merge:
    """The outcome of a merge; conflicts are data.

    Attributes:
        tree: Merged tree; where paths conflict it holds git's own mixture and must not be used.
        conflicts: Per conflicting path its sides: 1 base, 2 ours, 3 theirs; a missing stage is a
            side without the file.
    """

    tree: TreeId
    conflicts: dict[str, dict[int, File]]


@dataclass
class _Session:
    """Merges that were made, and those that are to go along with the next.

    Attributes:
        made: By repository and the three trees.
        expected: The same keys, not made yet.
    """

    made: dict["_Key", Merge] = field(default_factory=dict)
    expected: list["_Key"] = field(default_factory=list)


_Key = tuple[Repository, TreeId, TreeId, TreeId]
_session = ContextVar[_Session | None]("_session", default=None)


@contextmanager
def merging() -> Iterator[None]:
    """Make a merge once while the block runs, and expected ones along with others."""
    token = _session.set(_session.get() or _Session())
    try:
        yield
    finally:
        _session.reset(token)


def expect_merge(repository: Repository, base: TreeId, ours: TreeId, theirs: TreeId) -> None:
    """Say that these trees will be merged, so that it needs no git of its own."""
    session = _session.get()
    if session and not _settled(base, ours, theirs):
        session.expected.append((repository, base, ours, theirs))


def merge_trees(repository: Repository, base: TreeId, ours: TreeId, theirs: TreeId) -> Merge:
    """Merge ``theirs`` onto ``ours``, both having come from ``base``.

    git 2.39 takes the merge base from history only, so the three trees are wrapped in commits
    that share one parent.
    """
    settled = _settled(base, ours, theirs)
    if settled:
        return settled
    session = _session.get() or _Session()
    asked = (repository, base, ours, theirs)
    if asked not in session.made:
        along = [key for key in session.expected if key[0] == repository and key != asked]
        session.expected = [key for key in session.expected if key[0] != repository]
        session.made |= _made(repository, list(dict.fromkeys([asked, *along])))
    return session.made[asked]


def _settled(base: TreeId, ours: TreeId, theirs: TreeId) -> Merge | None:
    """The merge of trees of which two are the same."""
    if ours == base:
        return Merge(theirs, {})
    return Merge(ours, {}) if theirs in {base, ours} else None


def _made(repository: Repository, keys: Sequence[_Key]) -> dict[_Key, Merge]:
    """Make merges, all in one git call."""
    sides = [siblings(repository, *trees) for _, *trees in keys]
    stdin = "".join(f"{ours} {theirs}\n" for ours, theirs in sides).encode()
    output = repository.run("merge-tree", "--stdin", "--no-messages", stdin=stdin)
    fields = iter(output.stdout.decode("utf-8", "surrogateescape").split("\0"))
    found = {}
    for key, pair in zip(keys, sides, strict=True):
        status, tree = next(fields), TreeId(next(fields))
        conflicts: dict[str, dict[int, File]] = {}
        # An empty field ends what is told of one.
        for stage in iter(lambda: next(fields), ""):
            head, _, path = stage.partition("\t")
            mode, blob, number = head.split(" ")
            original = _own_name(path, pair)
            conflicts.setdefault(original, {})[int(number)] = File(mode, BlobId(blob))
        if status == CLEAN and conflicts:
            raise GitError(f"git merge-tree said clean but named {sorted(conflicts)}")
        found[key] = Merge(tree, _removed_and_edited(*key) | conflicts)
    return found


def _own_name(path: str, sides: Sequence[CommitId]) -> str:
    """A conflict's path; git moves one of two sides away where they are of different types."""
    name, sign, side = path.rpartition("~")
    return name if sign and side.partition("_")[0] in sides else path


def _removed_and_edited(
    repository: Repository, base: TreeId, ours: TreeId, theirs: TreeId
) -> dict[str, dict[int, File]]:
    """Conflicts over files that one side removed and the other edited.

    git names them too, unless it guesses that the file was renamed; before 2.50 it always guesses,
    whatever ``merge.renames`` says.
    """
    changed = changes(repository, base, theirs)
    present = files(repository, ours, changed) if changed else {}
    found: dict[str, dict[int, File]] = {}
    for path, (before, after) in changed.items():
        here = present.get(path)
        if before and before != here and (after is None) != (here is None):
            sides = {1: before, 2: here, 3: after}
            found[path] = {number: side for number, side in sides.items() if side}
    return found
