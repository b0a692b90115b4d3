"""``lanewright image mirror``: keep what a lane is based on, for upstream will not."""

import shutil

from msgspec import UNSET

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.mirror import mirrored, whole_base
from lanewright.image.onto.base import architecture_of
from lanewright.image.opened.image import OpenImage
from lanewright.image.opened.origin import brought
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.base import base_named, bases_named
from lanewright.queue.lock import LockedBase, read_lock
from lanewright.queue.series import load_series
from lanewright.terminal import emit, emit_json, printable, quoted, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Copy the base into the store; print its digest and its folder.

    It is what the series names, and so what a lock of that series does: a lane that cannot be locked
    yet has its base kept, too. Where those of all lanes are asked for, each lock's is among them that
    is another still; what fails of one is told, and the worst exit code is the run's.
    """
    if arguments.every:
        return _every(project, places, arguments)
    lane = lane_of(project, arguments)
    series = load_series(project, lane)
    base, architecture = base_named(series), architecture_of(series)
    if base is UNSET:
        if not arguments.optional:
            raise LanewrightError(
                f"lane {lane} names no base to mirror: [image] of its series has no `base`",
                hint=f"lanewright image base {quoted(lane)} makes one for a CPU lane",
            )
        say(f"lane {lane}: no base is kept: its series names none")
        image = None
    else:
        image = _kept(places, lane, base, architecture, arguments)
    if arguments.json:
        emit_json(_told(lane, image) if image else None)
    elif image:
        emit(f"{image.digest} {image.folder}")
    return ExitCode.CLEAN


def _every(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    kept, worst, named = list[dict[str, object]](), ExitCode.CLEAN, False
    for lane in project.lanes():
        try:
            series = load_series(project, lane)
            # As the lock stands: what it is made of need not be on this machine.
            locked = read_lock(project.lock_file(lane))
        except (LanewrightError, OSError) as error:
            worst = max(worst, _failed(lane, error))
            continue
        for base in bases_named(series, locked):
            named = True
            try:
                image = _kept(places, lane, base, architecture_of(series), arguments)
            except (LanewrightError, OSError) as error:
                worst = max(worst, _failed(lane, error))
                continue
            if image:
                kept.append(_told(lane, image))
                if not arguments.json:
                    emit(f"{image.digest} {image.folder}")
    if not named and worst is ExitCode.CLEAN:
        say("no lane names a base: there is none to keep")
    if arguments.json:
        emit_json(kept)
    return worst


def _kept(
    places: Places, lane: str, base: LockedBase, architecture: str | None, arguments: Arguments
) -> OpenImage | None:
    """A lane's base, in the store now; None where it cannot be, and that is told."""
    what = "is kept"
    there = whole_base(places, base, architecture)
    if arguments.base:
        image = brought(places, arguments.base, architecture, anew=there is None)
        if base.digest not in (image.digest, image.index):
            raise LanewrightError(
                f"lane {lane}: that is {image.digest}, and the lane's base is {base.digest}",
                hint=f"`lanewright image {quoted(lane)} --base {quoted(arguments.base)}` takes it all the"
                " same",
            )
    elif there:
        image, what = there, "is kept already"
    elif arguments.optional and not shutil.which("skopeo"):
        say(
            f"lane {lane}: no base is kept: {base.name} takes skopeo, and it is not on PATH\n"
            f"  next: apt-get install skopeo && lanewright image mirror {quoted(lane)}"
        )
        return None
    else:
        image = mirrored(places, lane, base, architecture)
    size = sum(layer.blob.size for layer in image.layers)
    listed = f" of the list {image.index}" if image.index else ""
    say(
        f"lane {lane}: {image.platform.os}/{image.platform.architecture}{listed} {what},"
        f" {len(image.layers)} layers, {size} bytes"
    )
    return image


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
