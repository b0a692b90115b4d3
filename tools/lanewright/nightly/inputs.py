"""Whether a night that was killed can go on: on what its steps read, and by which tool."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from lanewright.project import Project

READ = ("series", "patches", "overlay", "environments")
# Locks are written by the night itself, and no file of Python's own counts.
NOT_READ = (".lock", ".pyc")


def digest_of(project: Project) -> str:
    """SHA-256 of all that people write of a project's lanes.

    Raises:
        OSError: Some of it cannot be read.
    """
    digest = hashlib.sha256()
    for file in _files(project.root):
        name, content = os.fsencode(file.relative_to(project.root)), file.read_bytes()
        digest.update(b"%d %s %d " % (len(name), name, len(content)))
        digest.update(content)
    return digest.hexdigest()


def _files(root: Path) -> Iterator[Path]:
    yield root / "upstream.toml"
    for top in READ:
        found = (root / top).rglob("*")
        yield from sorted(each for each in found if each.suffix not in NOT_READ and each.is_file())


def commit_of(project: Project) -> str | None:
    """The commit that a project's checkout is of, with ``+`` where it has been edited; or None."""
    # Only a night asks.
    import pygit2  # noqa: PLC0415

    try:
        place = pygit2.discover_repository(str(project.root))
        if place is None:
            return None
        repository = pygit2.Repository(place)
        edited = "+" if repository.status(untracked_files="all") else ""
        head = repository.head.target
    except (KeyError, pygit2.GitError):
        # Another user's checkout, or one without a commit.
        return None
    return f"{head}{edited}"
