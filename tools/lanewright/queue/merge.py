"""Three-tree merges without a work tree, from objects alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.store.git import GitError, Repository
from lanewright.store.objects import BlobId, CommitId, File, TreeId, changes, files
from lanewright.store.write import siblings

CLEAN, CONFLICTED = 0, 1


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


def merge_trees(repository: Repository, base: TreeId, ours: TreeId, theirs: TreeId) -> Merge:
    """Merge ``theirs`` onto ``ours``, both having come from ``base``.

    git 2.39 takes the merge base from history only, so the three trees are wrapped in commits
    that share one parent.
    """
    if ours == base:
        return Merge(theirs, {})
    if theirs in {base, ours}:
        return Merge(ours, {})
    sides = siblings(repository, base, ours, theirs)
    output = repository.run(
        "merge-tree", "--write-tree", "-z", "--no-messages", *sides, ok=(CLEAN, CONFLICTED)
    )
    tree, *stages = output.stdout.decode("utf-8", "surrogateescape").rstrip("\0").split("\0")
    if output.status == CLEAN and stages:
        raise GitError(f"git merge-tree said clean but named {stages}")
    conflicts: dict[str, dict[int, File]] = {}
    for stage in stages:
        head, _, path = stage.partition("\t")
        mode, blob, number = head.split(" ")
        original = _own_name(path, sides)
        conflicts.setdefault(original, {})[int(number)] = File(mode, BlobId(blob))
    return Merge(TreeId(tree), _removed_and_edited(repository, base, ours, theirs) | conflicts)


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
