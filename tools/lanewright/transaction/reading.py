"""Files of a project read as of one moment; no lock is taken, so it works where nothing can be."""

import os
from collections.abc import Callable
from typing import TypeVar

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.transaction.editing import recover
from lanewright.transaction.journal import pending_file, undo_file

Found = TypeVar("Found")


def of_one_state(project: Project, read: Callable[[], Found]) -> Found:
    """What ``read`` gives, read again where a transaction was carried out meanwhile.

    Between two of its renames the files are of two states, and may not even be sound together.
    It is over once ``undo.json`` is another one; so that costs a reader four calls of stat.

    Raises:
        LanewrightError: As ``read`` says, of files that nobody was changing.
        OSError: The same.
    """
    while True:
        last = _last(project)
        recover(project)  # waits where an editor is at its renames
        try:
            found = read()
        except (LanewrightError, OSError):
            if not _changed_since(project, last):
                raise
            continue
        if not _changed_since(project, last):
            return found


def _changed_since(project: Project, last: tuple[int, int] | None) -> bool:
    # In this order: one that ends between the two calls is seen by the second.
    return os.path.lexists(pending_file(project)) or _last(project) != last


def _last(project: Project) -> tuple[int, int] | None:
    """The transaction that was carried out last, by its file; renaming makes it another one."""
    try:
        found = undo_file(project).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
