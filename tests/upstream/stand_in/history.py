"""``main``: from one release's tree to the next one's in many small commits."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from lanewright.store.git import Repository, create
from lanewright.store.objects import CommitId, commit_and_tree
from lanewright.store.write import Content
from tests.upstream.stand_in.points import is_python
from tests.upstream.stand_in.stream import HOUR, START, NewCommit, data, person, write_commits
from tests.upstream.stand_in.trees import Tree, tree_id

MAIN = "refs/heads/main"
OLD_TAG, NEW_TAG = "v0.31.0", "v0.32.0"
UPSTREAM = "upstream"
# So many of the files that grew or shrank most change in two steps.
HALVED = 5

Step = tuple[str, Content | None]


def build_main(folder: Path, old: Tree, new: Tree, *, commits: int) -> tuple[CommitId, ...]:
    """Make a bare repository whose ``main`` goes from ``old`` to ``new`` in so many commits.

    Both trees are checked by id. The same trees give the same commits every time.

    Returns:
        The commits of ``main``, oldest first: the first holds ``old``, the last ``new``.
    """
    repository = create(folder)
    repository.run("symbolic-ref", "HEAD", MAIN)
    groups = _grouped(_steps(old, new, apart=-(-_size(old, new) // commits)), commits)
    first = NewCommit(MAIN, UPSTREAM, START, f"The tree of {OLD_TAG}", (), old)
    later = [
        NewCommit(MAIN, UPSTREAM, START + number * HOUR, _said(group), (), dict(group))
        for number, group in enumerate(groups, 1)
    ]
    tags = [
        f"tag {OLD_TAG}\nfrom :1\ntagger {person(UPSTREAM, START)}\n".encode(),
        data(f"{OLD_TAG}\n".encode()),
        f"reset refs/tags/{NEW_TAG}\nfrom :{commits + 1}\n\n".encode(),
    ]
    made = write_commits(repository, [first, *later], tail=b"".join(tags))
    _require(repository, OLD_TAG, made[0], old)
    _require(repository, NEW_TAG, made[-1], new)
    return tuple(made)


def serve_settings(folder: Path) -> None:
    """Let ``git daemon`` serve the repository as upstream's host does: partial, and by commit id."""
    repository = Repository(folder)
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        repository.run("config", key, "true")
    (folder / "git-daemon-export-ok").touch()


def _require(repository: Repository, tag: str, commit: CommitId, tree: Tree) -> None:
    found = commit_and_tree(repository, tag)
    assert found == (commit, tree_id(tree)), f"{tag} is {found}, not {commit}, {tree_id(tree)}"


def _changed(old: Tree, new: Tree) -> list[str]:
    return sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))


def _size(old: Tree, new: Tree) -> int:
    return len(_changed(old, new)) + HALVED


def _steps(old: Tree, new: Tree, *, apart: int) -> list[Step]:
    """Every change in path order; the second half of a file comes in a later commit."""
    changed = _changed(old, new)
    steps: list[Step] = [(path, new.get(path)) for path in changed]
    both = [path for path in changed if path in old and path in new and path.endswith(".py")]
    both.sort(key=lambda path: (-abs(len(new[path].raw) - len(old[path].raw)), path))
    for path in both[:HALVED]:
        half = _half(old[path].raw, new[path].raw)
        at = next(number for number, step in enumerate(steps) if step[0] == path)
        if half is not None and at + apart < len(steps):
            steps.insert(at, (path, Content(new[path].mode, half)))
            steps.insert(at + apart, steps.pop(at + 1))
    return steps


def _half(before: bytes, after: bytes) -> bytes | None:
    """A file with the first half of its hunks; None where that is no Python."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    kept = codes[: len(codes) // 2]
    at = kept[-1][2] if kept else 0
    half = b"".join(line for _, _, _, low, high in kept for line in new[low:high])
    half += b"".join(old[at:])
    return half if half not in {before, after} and is_python(half) else None


def _grouped(steps: Sequence[Step], commits: int) -> list[Sequence[Step]]:
    size = len(steps)
    assert size >= commits, f"{size} changes do not fill {commits} commits"
    return [
        steps[number * size // commits : (number + 1) * size // commits]
        for number in range(commits)
    ]


def _said(group: Sequence[Step]) -> str:
    first, *others = [path for path, _ in group]
    return f"Change {first}" + (f" and {len(others)} more" if others else "")
