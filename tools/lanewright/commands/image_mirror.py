"""``lanewright image mirror``: keep what a lane is based on, for upstream will not."""

import shutil

from msgspec import UNSET

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.mirror import base_of, kept_base, mirrored
from lanewright.image.onto.base import architecture_of
from lanewright.image.opened.image import OpenImage
from lanewright.image.opened.origin import brought
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.lock import Lock, read_lock
from lanewright.queue.series import load_series
from lanewright.terminal import emit, emit_json, printable, quoted, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Copy the base into the store; print its digest and its folder.

    Of every lane that a lock names a base of, where all are asked for: what fails of one is told,
    and the worst exit code is the run's.
    """
    if arguments.every:
        return _every(project, places, arguments)
    lane = lane_of(project, arguments)
    lock = build(project, places, lane, check=True).lock
    image = _kept(project, places, lock, arguments)
    if arguments.json:
        emit_json(_told(lane, image) if image else None)
    elif image:
        emit(f"{image.digest} {image.folder}")
    return ExitCode.CLEAN


def _every(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    kept, worst, named = list[dict[str, object]](), ExitCode.CLEAN, False
    for lane in project.lanes():
        try:
            # As the lock stands: what it is made of need not be on this machine.
            lock = read_lock(project.lock_file(lane))
            if lock is None or lock.base is UNSET:
                continue
            named = True
            image = _kept(project, places, lock, arguments)
        except (LanewrightError, OSError) as error:
            worst = max(worst, _failed(lane, error))
            continue
        if image:
            kept.append(_told(lane, image))
            if not arguments.json:
                emit(f"{image.digest} {image.folder}")
    if not named and worst is ExitCode.CLEAN:
        say("no lane has a lock that names a base: there is none to keep")
    if arguments.json:
        emit_json(kept)
    return worst


def _kept(project: Project, places: Places, lock: Lock, arguments: Arguments) -> OpenImage | None:
    """A lane's base, in the store now; None where it need not be, or cannot, and that is told."""
    lane = lock.lane
    architecture = architecture_of(load_series(project, lane))
    if arguments.optional and (why := why_not(places, lock, architecture, arguments.base)):
        say(f"lane {lane}: no base is kept: {why}")
        return None
    base, what = base_of(lock), "is kept"
    if arguments.base:
        image = brought(places, arguments.base, architecture)
        if base.digest not in (image.digest, image.index):
            raise LanewrightError(
                f"lane {lane}: that is {image.digest}, and the lane's base is {base.digest}",
                hint=f"`lanewright image {quoted(lane)} --base {quoted(arguments.base)}` takes it all the"
                " same",
            )
    elif there := kept_base(places, base, architecture):
        image, what = there, "is kept already"
    else:
        image = mirrored(places, lock, architecture)
    size = sum(layer.blob.size for layer in image.layers)
    listed = f" of the list {image.index}" if image.index else ""
    say(
        f"lane {lane}: {image.platform.os}/{image.platform.architecture}{listed} {what},"
        f" {len(image.layers)} layers, {size} bytes"
    )
    return image


def why_not(places: Places, lock: Lock, architecture: str | None, given: str | None) -> str:
    """Why a lane's base cannot be kept here, or need not be; empty where it can, or is."""
    if lock.base is UNSET:
        return "its series names none"
    if given or kept_base(places, lock.base, architecture) or shutil.which("skopeo"):
        return ""
    return (
        f"{lock.base.name} takes skopeo, and it is not on PATH\n"
        f"  next: apt-get install skopeo && lanewright image mirror {quoted(lock.lane)}"
    )


def _told(lane: str, image: OpenImage) -> dict[str, object]:
    return {
        "lane": lane,
        "digest": image.digest,
        "index": image.index,
        "platform": image.platform,
        "folder": image.folder,
        "size": sum(layer.blob.size for layer in image.layers),
    }


def _failed(lane: str, error: LanewrightError | OSError) -> ExitCode:
    whose = "" if str(error).startswith(f"lane {lane}") else f"lane {lane}: "
    say(f"lanewright: {whose}{printable(str(error))}")
    if not isinstance(error, LanewrightError):
        return ExitCode.INPUT
    if error.hint:
        say(f"  next: {printable(error.hint)}")
    return error.exit_code
