"""Where a lane is run: by an environment of this machine, or in its image."""

from lanewright.cli import Arguments, lane_of
from lanewright.image.container.in_image import lay_in_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.serve.lane import Lane, lay_lane, only_in_image


def laid(project: Project, places: Places, arguments: Arguments) -> tuple[Lane, bool]:
    """Lay the lane out that a command is about.

    Returns:
        The lane, and whether it runs in its image: that was asked for, or it runs nowhere else.

    Raises:
        LanewrightError: As ``lay_lane`` and ``lay_in_image`` say.
    """
    name = lane_of(project, arguments)
    if arguments.in_image or only_in_image(project, load_series(project, name)):
        return lay_in_image(project, places, name), True
    return lay_lane(project, places, name), False
