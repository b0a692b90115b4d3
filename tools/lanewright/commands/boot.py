"""``lanewright boot``: run a built lane for real, and keep a record of it."""

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.image.container.choosing import laid
from lanewright.places import Places
from lanewright.project import Project
from lanewright.report.left_out import say_left_out
from lanewright.serve.run import run_lane
from lanewright.serve.summary import summary
from lanewright.serve.wanted import Wanted
from lanewright.terminal import emit, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Boot the lane's engine and server, compare if asked; print the summary of what ran."""
    lane, in_image = laid(project, places, arguments)
    if in_image and not arguments.no_server:
        say(f"its server is for `lanewright image smoke {lane.lock.lane}` to boot")
    modes = lane.asked.modes if arguments.equal else ()
    wanted = Wanted(
        server=not (arguments.no_server or in_image),
        port=arguments.port,
        in_image=in_image,
        modes=modes,
        resume=arguments.resume,
    )
    say_left_out(project, lane.lock)
    emit(summary(run_lane(places, lane, wanted)))
    return ExitCode.CLEAN
