"""``lanewright page``: a static site that shows nights."""

from contextlib import suppress

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.history.taking_in import take_in
from lanewright.page.making import default_place, write_page
from lanewright.places import Places
from lanewright.project import Project
from lanewright.report.outcome import counted
from lanewright.terminal import emit, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Write it, and print where it begins.

    Raises:
        LanewrightError: What lies in its place is no page.
    """
    # Why the history cannot be used is told where it is read.
    with suppress(LanewrightError, OSError):
        take_in(places)
    made = write_page(project, places, arguments.out or default_place(places))
    for name, why in made.damaged:
        say(f"night {name} is left out, for it cannot be read: {why}")
    if made.fault:
        say(f"page: without trends, for the history tells nothing: {made.fault}")
    say(f"page: {counted(made.nights, 'night')}, {counted(made.pulls, 'pull request')}")
    emit(str(made.folder / "index.html"))
    return ExitCode.CLEAN
