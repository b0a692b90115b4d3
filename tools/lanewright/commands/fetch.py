"""``lanewright fetch``: bring what a lane stands on into the store."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.pin import resolve_pin
from lanewright.queue.plan import pins_of, plan
from lanewright.store.release import hand_over
from lanewright.terminal import emit


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Download and import every release the lane names, or take a wheel that the user has."""
    if arguments.wheel:
        release, commit = hand_over(places, arguments.wheel.absolute())
        emit(f"{release.distribution} {release.version} {commit}")
        return ExitCode.CLEAN
    for spec in pins_of(project, plan(project, lane_of(project, arguments))):
        pin = resolve_pin(project, places, spec)
        emit(f"{pin.distribution} {pin.version} {pin.commit}")
    return ExitCode.CLEAN
