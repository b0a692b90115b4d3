"""An entry's hand fixes, for people."""

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.fix.fixes import expanded, fixes_of
from lanewright.queue.lock import LockedEntry
from lanewright.store.git import Repository
from lanewright.terminal import emit, printable


def emit_fixes(project: Project, places: Places, entry: LockedEntry, *, in_full: bool) -> None:
    """Print which fixes an entry is carried with, and, if wanted, what each makes of its file.

    Raises:
        RecipeError: A fix does not give what it says, or the store lacks a side of it.
    """
    known = {fix.file: fix for fix in fixes_of(project, entry.name)}
    for taken in entry.fixes:
        emit(f"fix {taken.state}: {printable(taken.file)}")
        if in_full and taken.file in known:
            content = expanded(Repository(places.objects), known[taken.file])
            gone = f"(it removes {printable(taken.path)})"
            emit(gone if content is None else content.decode("utf-8", "replace"))
