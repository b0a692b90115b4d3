"""The image that this machine has of a lane's lock."""

from lanewright.errors import LanewrightError
from lanewright.image.inspect.seen import Seen, in_layout
from lanewright.image.layout import layout_folder
from lanewright.image.onto.layout import image_folders
from lanewright.image.onto.standing import standing_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit.unpinned import no_lock
from lanewright.queue.lock import read_lock
from lanewright.queue.series import load_series
from lanewright.terminal import quoted


def of_lane(project: Project, places: Places, lane: str) -> Seen:
    """A lane's image; where there is none, its layer alone.

    Raises:
        LanewrightError: There is no such lane, it has no lock, or nothing was made of that here.
    """
    project.series_file(lane)
    lock = read_lock(project.lock_file(lane))
    if lock is None:
        raise no_lock(project, lane)
    if image_folders(places, lock):
        folder, _ = standing_image(project, places, load_series(project, lane), lock)
        return in_layout(folder, str(folder))
    if (folder := layout_folder(places, lock)).is_dir():
        return in_layout(folder, str(folder))
    raise LanewrightError(
        f"lane {lane}: there is no image of its lock on this machine",
        hint=f"lanewright image {quoted(lane)}",
    )
