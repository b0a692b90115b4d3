"""A base that was handed over and is refused: how it leaves the store again."""

from lanewright.errors import LanewrightError
from lanewright.image.onto.again import Again
from lanewright.image.onto.layout import images_on
from lanewright.image.opened.image import OpenImage
from lanewright.image.opened.kept import kept_folder
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.base import bases_named
from lanewright.queue.lock import Lock, LockedBase, read_lock
from lanewright.queue.series import load_series
from lanewright.terminal import quoted


def removal(project: Project, places: Places, lock: Lock, base: OpenImage) -> str:
    """What to type about a base that no image stands on and no lane names; empty for any other.

    Upstream may have no more what a lane names, and a lane may be moved to what was refused.
    """
    if Again.of(places, lock, base).made() or images_on(places, base):
        return ""
    try:
        named = {each.digest for lane in project.lanes() for each in _of_lane(project, lane)}
    except LanewrightError:
        # It may be that lane's.
        return ""
    if named & {base.digest, base.index}:
        return ""
    folder = quoted(kept_folder(places, base.digest))
    return f"it is in the store: `--base {base.digest}` takes it again, `rm -r {folder}` removes it"


def _of_lane(project: Project, lane: str) -> list[LockedBase]:
    return bases_named(load_series(project, lane), read_lock(project.lock_file(lane)))
