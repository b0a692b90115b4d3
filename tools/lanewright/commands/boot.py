"""``lanewright boot``: run a built lane for real, and keep a record of it."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.report.left_out import say_left_out
from lanewright.serve.lane import lay_lane
from lanewright.serve.run import run_lane
from lanewright.serve.summary import summary
from lanewright.serve.wanted import Wanted
from lanewright.terminal import emit


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Boot the lane's engine and server, compare if asked; print the summary of what ran."""
    lane = lay_lane(project, places, lane_of(project, arguments))
    modes = lane.asked.modes if arguments.equal else ()
    wanted = Wanted(
        server=not arguments.no_server,
        port=arguments.port,
        modes=modes,
        resume=arguments.resume,
    )
    say_left_out(project, lane.lock)
    emit(summary(run_lane(places, lane, wanted)))
    return ExitCode.CLEAN
