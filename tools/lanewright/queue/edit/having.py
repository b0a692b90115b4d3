"""Which lanes an entry is in, for a command that was given the entry alone."""

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.edit.selection import index_of
from lanewright.queue.series import load_series


def lanes_with(project: Project, entry: str) -> list[str]:
    """Names of the lanes whose series has an entry of this name or pull-request number."""
    return [lane for lane in project.lanes() if _has(project, lane, entry)]


def _has(project: Project, lane: str, entry: str) -> bool:
    try:
        return index_of(load_series(project, lane), entry) is not None
    except LanewrightError:  # told of by whoever asks for that lane
        return False
