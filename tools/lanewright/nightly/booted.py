"""What boots need of a machine, looked at before anything on it is stopped for them."""

from collections.abc import Iterable
from dataclasses import dataclass

from lanewright.errors import HardwareError, LanewrightError
from lanewright.image.container.in_image import ready_in_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.serve.bootable import require_bootable
from lanewright.serve.hardware import require_hardware
from lanewright.serve.lane import only_in_image
from lanewright.serve.served import wants_of


@dataclass(frozen=True)
class Booted:
    """Lanes, by what their boots need.

    Attributes:
        in_image: Those that run in their image alone.
        elsewhere: Those whose device is not here.
    """

    in_image: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()

    @classmethod
    def of(cls, project: Project, lanes: Iterable[str]) -> "Booted":
        """Tell of some lanes; of a series that cannot be read each step tells."""
        in_image, elsewhere = set[str](), set[str]()
        for lane in lanes:
            try:
                series = load_series(project, lane)
            except LanewrightError:
                continue
            if series.image and only_in_image(project, series):
                in_image.add(lane)
            try:
                require_hardware(lane, series.device)
            except HardwareError:
                elsewhere.add(lane)
        return cls(frozenset(in_image), frozenset(elsewhere))


def require_ready(project: Project, places: Places, lane: str) -> None:
    """Refuse what a boot of a lane refuses on this machine before its first engine starts.

    Raises:
        LanewrightError: Its series, its image or what runs that, or its model is not as a boot needs it.
    """
    series = load_series(project, lane)
    require_bootable(series, project.series_file(lane))
    if only_in_image(project, series):
        ready_in_image(project, places, lane)
    else:
        wants_of(series, lane).require()
