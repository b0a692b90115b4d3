"""Pull requests that a series names before their commits are known, and what is told of them."""

from msgspec import UNSET

from lanewright.errors import DriftError, LanewrightError
from lanewright.project import Project
from lanewright.queue.base import base_named
from lanewright.queue.series import Series, load_series
from lanewright.terminal import quoted, say
from lanewright.transaction.replace import replace_together


class UnpinnedError(LanewrightError):
    """A lane names pull requests whose commits are not in its series yet."""

    def __init__(self, project: Project, lane: str, series: Series) -> None:
        self.numbers = unpinned(series)
        # Upstream may drop it before they are pinned.
        is_based = base_named(series) is not UNSET
        base = f"; its base, if not kept yet: lanewright image mirror {quoted(lane)}"
        super().__init__(
            f"series/{lane}.toml: {told_unpinned(self.numbers)}",
            hint=f"{pin_command(project, lane, self.numbers)}{base if is_based else ''}",
        )


def unpinned(series: Series) -> list[int]:
    """Numbers of the pull requests that have neither ``head`` nor ``base``."""
    return [each.pull for each in series.entry if each.pull is not None and not each.is_pinned]


def require_pinned(project: Project, lane: str, series: Series) -> None:
    """See that every pull request of a lane names its commits.

    Raises:
        UnpinnedError: Some do not; all are told.
    """
    if unpinned(series):
        raise UnpinnedError(project, lane, series)


def no_lock(project: Project, lane: str) -> LanewrightError:
    """Why a lane has no lock, and what to type; with the exit code of one that is out of date.

    Raises:
        LanewrightError: Its series cannot be read.
    """
    series = load_series(project, lane)
    if unpinned(series):
        return UnpinnedError(project, lane, series)
    return DriftError(f"lane {lane} has no lock yet", hint=f"lanewright build {lane}")


def told_unpinned(numbers: list[int]) -> str:
    """What is wrong with pull requests that are not pinned, for people."""
    names = ", ".join(f"#{number}" for number in numbers)
    return f"{names} {'is' if len(numbers) == 1 else 'are'} not pinned yet"


def pin_command(project: Project, lane: str, numbers: list[int]) -> str:
    """The command that pins pull requests where they stand."""
    return f"lanewright add {' '.join(map(str, numbers))}{project.option(lane)}"


def write_unpinned(project: Project, lane: str, text: str, series: Series, *, what: str) -> bool:
    """Write an edit that leaves something unpinned, and no lock; False where nothing is.

    Hold the project for editing.
    """
    numbers = unpinned(series)
    if not numbers:
        return False
    replace_together(project, {project.series_file(lane): text.encode()}, what=what)
    say(f"lane {lane}: {told_unpinned(numbers)}, so only its series was written")
    say(f"  next: {pin_command(project, lane, numbers)}")
    return True
