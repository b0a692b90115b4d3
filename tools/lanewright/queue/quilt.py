"""A lane as a quilt series, for people who leave: one patch per entry, on the pin's tree."""

from pathlib import Path

from lanewright.queue.lock import Lock, LockedEntry
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId

DIFF = (
    "--patch",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


def write_quilt(repository: Repository, lock: Lock, folder: Path) -> list[str]:
    """Write ``patches/`` and its ``series``; applied in order they give the lane's tree.

    Args:
        repository: The store.
        lock: The lane.
        folder: A new folder.

    Returns:
        The patches' names, in order; an entry that changes nothing has none.
    """
    folder.mkdir()
    names: list[str] = []
    before = lock.pin.tree
    for entry in lock.entries:
        text = repository.run("diff-tree", "-r", *DIFF, before, entry.tree).stdout
        if text:
            names.append(f"{len(names) + 1:04}-{entry.name}.patch")
            (folder / names[-1]).write_bytes(_head(lock, entry, before) + text)
        before = entry.tree
    (folder / "series").write_text("".join(f"{name}\n" for name in names))
    return names


def _head(lock: Lock, entry: LockedEntry, before: TreeId) -> bytes:
    lines = [
        f"Description: {entry.name} ({entry.source}), as lane {lock.lane} carries it",
        f"Origin: {entry.pull.head if entry.pull else entry.source}",
        f"Base: tree {before} of {lock.pin.ref} (strip one level: -p1)",
        "",
        "",
    ]
    return "\n".join(lines).encode()
