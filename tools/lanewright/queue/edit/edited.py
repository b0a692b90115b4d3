"""A series as it will be, applied before it is written; then written together with its lock."""

from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import Applied, apply_plan
from lanewright.queue.build import commit_refs, files_of
from lanewright.queue.plan import Plan, plan_of
from lanewright.queue.series import Series, check_series
from lanewright.tomlfile import loads
from lanewright.transaction.replace import replace_together


@dataclass(frozen=True)
class Tried:
    """An edit of a series, applied in the store and written nowhere.

    Attributes:
        text: The series as it will be.
        planned: What it names.
        applied: What that comes to.
    """

    text: str
    planned: Plan
    applied: Applied


def series_text(project: Project, lane: str) -> str:
    """A series as people wrote it, with its line ends.

    Raises:
        LanewrightError: Unknown lane, or no text.
    """
    path = project.series_file(lane)
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise LanewrightError(f"{path} is no valid TOML: {error}") from error


def read_text(project: Project, lane: str, text: str) -> Series:
    """A series from a text that need not be on disk.

    Raises:
        LanewrightError: As ``load_series`` says.
    """
    path = project.series_file(lane)
    return check_series(path, loads(text.encode(), path, Series))


def try_text(
    project: Project, places: Places, lane: str, text: str, *, keep_going: bool = False
) -> Tried:
    """Apply a series that is not written yet.

    Raises:
        LanewrightError: It cannot be read, or a source of it cannot be had.
    """
    planned = plan_of(project, lane, read_text(project, lane, text))
    applied = apply_plan(project, places, planned, keep_going=keep_going, remembers=True)
    return Tried(text, planned, applied)


def write_together(
    project: Project, places: Places, tried: list[Tried], *, what: str, with_locks: bool = True
) -> None:
    """Write series, locks and fixes, all or none; what they name is in the store first."""
    changes = {}
    for each in tried:
        changes[project.series_file(each.planned.lane)] = each.text.encode()
        if with_locks:
            commit_refs(places, each.applied.lock)
            changes |= files_of(project, each.applied)
    replace_together(project, changes, what=what)
