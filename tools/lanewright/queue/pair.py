"""A lane's series and its lock, as they were at one moment."""

from lanewright.project import Project
from lanewright.queue.lock import Lock, read_lock
from lanewright.queue.plan import Plan, plan
from lanewright.transaction.reading import of_one_state


def read_pair(project: Project, lane: str) -> tuple[Plan, Lock | None]:
    """Read a series, everything it names, and its lock if there is one.

    Raises:
        LanewrightError: As ``plan`` and ``read_lock`` say.
    """
    return of_one_state(project, lambda: (plan(project, lane), read_lock(project.lock_file(lane))))
