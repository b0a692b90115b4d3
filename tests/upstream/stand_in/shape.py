"""What becomes of a pull request on a pin, by git's own three-way merge."""

from dataclasses import dataclass

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, TreeId, changes, commit_and_tree, files, read_blobs
from lanewright.store.write import siblings

CONFLICTED = 1
MARKER = b"<<<<<<< "


@dataclass(frozen=True)
class Shape:
    """Counts of files, and of hunks where they matter.

    Attributes:
        brought: Files that the pull request adds.
        applied: Files that the pin has exactly as the base has them.
        merged: Files that the pin changed elsewhere.
        conflicts: Files that conflict.
        conflicting_hunks: Places in them.
        missing: Files that the pin does not have.
        missing_hunks: Hunks for them.
    """

    brought: int = 0
    applied: int = 0
    merged: int = 0
    conflicts: int = 0
    conflicting_hunks: int = 0
    missing: int = 0
    missing_hunks: int = 0


def shape_of(repository: Repository, head: str, pin: str) -> Shape:
    """Merge a head onto a pin from where it left ``main``, and count what comes of it.

    The three trees are merged whatever the pin's history: a pin may be older than the base.
    """
    base = merge_base(repository, head)
    trees = []
    for name in (base, pin, head):
        found = commit_and_tree(repository, name)
        assert found is not None, f"{repository.path} has no {name}"
        trees.append(found[1])
    before, onto, wanted = trees
    ours, theirs = siblings(repository, before, onto, wanted)
    output = repository.run(
        *("merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs), ok=(0, CONFLICTED)
    )
    tree, *stages = output.stdout.decode().rstrip("\0").split("\0")
    sides: dict[str, set[str]] = {}
    for stage in stages:
        about, _, path = stage.partition("\t")
        sides.setdefault(path, set()).add(about.split(" ")[2])
    conflicts = [path for path, found in sides.items() if found == {"1", "2", "3"}]
    missing = [path for path, found in sides.items() if found == {"1", "3"}]
    assert len(conflicts) + len(missing) == len(sides), f"{head}: {sides}"

    edited = changes(repository, before, wanted)
    moved = changes(repository, before, onto)
    clean = {path: sides for path, sides in edited.items() if path not in {*conflicts, *missing}}
    brought = [path for path, (old, _) in clean.items() if old is None]
    merged = [path for path in clean if path in moved]
    return Shape(
        brought=len(brought),
        applied=len(clean) - len(brought) - len(merged),
        merged=len(merged),
        conflicts=len(conflicts),
        conflicting_hunks=_markers(repository, tree, conflicts),
        missing=len(missing),
        missing_hunks=_hunks(repository, before, wanted, missing),
    )


def merge_base(repository: Repository, head: str) -> CommitId:
    """Where a head left ``main``, or last took it in."""
    output = repository.run("merge-base", "refs/heads/main", head)
    return CommitId(output.stdout.decode().strip())


def _markers(repository: Repository, tree: str, paths: list[str]) -> int:
    present = files(repository, TreeId(tree), paths) if paths else {}
    contents = read_blobs(repository, [file.blob for file in present.values()])
    lines = [line for raw in contents.values() for line in raw.splitlines()]
    return sum(line.startswith(MARKER) for line in lines)


def _hunks(repository: Repository, before: str, after: str, paths: list[str]) -> int:
    if not paths:
        return 0
    flags = ("-p", "-r", "--no-renames", "--no-color")
    output = repository.run("diff-tree", *flags, before, after, "--", *paths)
    return sum(line.startswith(b"@@ ") for line in output.stdout.splitlines())
