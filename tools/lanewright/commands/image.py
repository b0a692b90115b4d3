"""``lanewright image``: a lane's changed files as one layer, in an OCI layout."""

from pathlib import Path

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.check import differences, require_intact_layout
from lanewright.image.layout import lay_out, layout_folder
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.lock import layer_of
from lanewright.report.left_out import say_left_out
from lanewright.store.git import Repository
from lanewright.terminal import emit, emit_json, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Make the layout unless it is there; print the layer's digest and where the layout is."""
    lane = lane_of(project, arguments)
    lock = build(project, places, lane, check=True).lock
    layer = layer_of(lock)
    repository = Repository(places.objects)
    out = arguments.out and arguments.out.resolve()
    folder = out or layout_folder(places, lock)
    if _holds_something(folder):
        if out and differences(repository, lock, out):
            raise LanewrightError(
                f"{out} holds something, and it is not this image",
                hint="name an empty or a new folder",
            )
        require_intact_layout(repository, lock, folder)
        say(f"lane {lane}: the image is there already, and as its lock says")
    else:
        lay_out(repository, lock, folder)
        require_intact_layout(repository, lock, folder)
        say(f"lane {lane}: image made, {layer.size} bytes for {layer.site_packages}")
    say_left_out(project, lock)
    if arguments.json:
        emit_json({"lane": lane, "layer": layer, "layout": folder})
    else:
        emit(f"{layer.digest} {folder}")
    return ExitCode.CLEAN


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except FileNotFoundError:
        return False
