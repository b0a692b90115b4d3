"""``lanewright image base``: make what a CPU lane's image stands on, on this machine."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.image.base.making import make_base_image
from lanewright.image.base.recipe import base_image
from lanewright.image.base.tools import missing_tools
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.terminal import emit, emit_json, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Make the base where the store has none; print its digest and its folder."""
    lane = lane_of(project, arguments)
    if arguments.optional and (why := why_not(project, places, lane)):
        say(f"lane {lane}: no base is made: {why}")
        return ExitCode.CLEAN
    made = make_base_image(project, places, lane)
    image = made.image
    size = sum(layer.blob.size for layer in image.layers)
    took = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in made.seconds.items())
    say(
        f"lane {lane}: base for {image.platform.os}/{image.platform.architecture}, a layer of"
        f" {size / 2**20:.0f} MiB: " + (took or "there already")
    )
    if arguments.json:
        emit_json(
            {
                "lane": lane,
                "digest": image.digest,
                "id": image.config_blob.digest,
                "platform": image.platform,
                "folder": image.folder,
                "size": size,
                "seconds": made.seconds,
                "sizes": made.sizes,
            }
        )
    else:
        emit(f"{image.digest} {image.folder}")
    return ExitCode.CLEAN


def why_not(project: Project, places: Places, lane: str) -> str:
    """Why a lane's base cannot be made here, or need not be; empty where it can, or is."""
    image = load_series(project, lane).image
    if image is None:
        return "its series has no [image]"
    if image.kind == "source":
        return f"it is built from source, by what `lanewright image source {lane}` writes"
    if image.base:
        return f"it is {image.base}, which `lanewright image mirror {lane}` keeps"
    missing = missing_tools()
    if missing and not base_image(project, places, lane):
        return f"it takes {', '.join(missing)}\n  next: apt-get install {' '.join(missing)}"
    return ""
