"""What a lock was written without, said wherever its tree is used."""

from lanewright.project import Project
from lanewright.queue.lock import Lock
from lanewright.report.outcome import counted
from lanewright.terminal import quoted, say


def say_left_out(project: Project, lock: Lock) -> None:
    """Tell of each entry that waits for a person, and what to type."""
    for entry in lock.entries:
        count = sum(hunk.open for hunk in entry.hunks)
        if count:
            option = project.option(lock.lane)
            say(
                f"lane {lock.lane} is without {entry.name}: {counted(count, 'hunk')} of it need a"
                f" person\n  next: lanewright resolve {quoted(entry.name)}{option}"
            )
