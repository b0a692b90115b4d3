"""The image that a lane has in the store, and what it stands on."""

from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.image.onto.again import Again
from lanewright.image.onto.base import own_base
from lanewright.image.onto.layout import image_folder, image_folders
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.opened.kept import kept_image
from lanewright.image.stamps import BASE_DIGEST
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import Lock
from lanewright.queue.series import Series
from lanewright.terminal import quoted


def standing_image(
    project: Project, places: Places, series: Series, lock: Lock
) -> tuple[Path, OpenImage]:
    """The image of a lock on the lane's own base, else the one made last; and its base.

    Raises:
        LanewrightError: There is none, or the store has lost its base.
    """
    folders = image_folders(places, lock)
    own = own_base(project, places, series, lock)
    if own and (folder := image_folder(places, lock, own)).exists():
        return folder, own
    if not folders:
        raise LanewrightError(
            f"lane {lock.lane}: there is no image of its lock on this machine",
            hint=f"lanewright image {quoted(lock.lane)}",
        )
    image = open_image(folders[0], None)
    again = Again(places, lock, image.labels.get(BASE_DIGEST, ""))
    try:
        base = base_of_image(places, image)
    except LanewrightError as error:
        raise LanewrightError(f"lane {lock.lane}: {error}", hint=again.base()) from error
    if base is None:
        raise LanewrightError(
            f"lane {lock.lane}: {folders[0]} names a base that the store does not have",
            hint=again.both(folders[0]),
        )
    return folders[0], base


def base_of_image(places: Places, image: OpenImage) -> OpenImage | None:
    """The base that an image's labels name; None where the store has none of that name.

    Raises:
        LanewrightError: It is damaged.
    """
    named = image.labels.get(BASE_DIGEST, "")
    return kept_image(places, named) if named else None
