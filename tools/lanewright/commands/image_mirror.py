"""``lanewright image mirror``: keep what a lane is based on, for upstream will not."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.image.mirror import base_of, mirrored
from lanewright.image.onto.base import architecture_of
from lanewright.image.opened.origin import brought
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.series import load_series
from lanewright.terminal import emit, emit_json, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Copy the base into the store; print its digest and its folder."""
    lane = lane_of(project, arguments)
    lock = build(project, places, lane, check=True).lock
    architecture = architecture_of(load_series(project, lane))
    base = base_of(lock)
    if arguments.base:
        image = brought(places, arguments.base, architecture)
        if base.digest not in (image.digest, image.index):
            say(f"lane {lane}: that is {image.digest}, and the lane's base is {base.digest}")
    else:
        image = mirrored(places, lock, architecture)
    size = sum(layer.blob.size for layer in image.layers)
    listed = f" of the list {image.index}" if image.index else ""
    say(
        f"lane {lane}: {image.platform.os}/{image.platform.architecture}{listed} is kept,"
        f" {len(image.layers)} layers, {size} bytes"
    )
    if arguments.json:
        emit_json(
            {
                "lane": lane,
                "digest": image.digest,
                "index": image.index,
                "platform": image.platform,
                "folder": image.folder,
                "size": size,
            }
        )
    else:
        emit(f"{image.digest} {image.folder}")
    return ExitCode.CLEAN
