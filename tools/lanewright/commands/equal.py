"""``lanewright equal``: prove that a lane answers as its unpatched pin does."""

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.image.container.choosing import laid
from lanewright.places import Places
from lanewright.project import Project
from lanewright.serve.equality.asked import MODES
from lanewright.serve.run import run_lane
from lanewright.serve.summary import summary
from lanewright.serve.wanted import Wanted
from lanewright.terminal import emit


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Compare in every mode of the lane, or in the one asked for; print the summary of what ran."""
    lane, in_image = laid(project, places, arguments)
    modes = [mode for mode in MODES if mode == arguments.mode] or lane.asked.modes
    wanted = Wanted(
        server=False,
        modes=modes,
        resume=arguments.resume,
        in_image=in_image,
        boots=arguments.boots,
    )
    emit(summary(run_lane(places, lane, wanted)))
    return ExitCode.CLEAN
