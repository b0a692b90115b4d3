"""``lanewright image inspect``: what is in an image, from its labels alone."""

from pathlib import Path

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.inspect.archive import in_archive
from lanewright.image.inspect.labels import told_by
from lanewright.image.inspect.lane import of_lane
from lanewright.image.inspect.seen import Seen, in_layout
from lanewright.image.inspect.storage import in_storage
from lanewright.image.inspect.text import data, lines
from lanewright.image.opened.origin import STORAGE
from lanewright.places import Places
from lanewright.project import Project
from lanewright.terminal import emit, emit_json, printable, say

NAMED = f"name the folder of an OCI layout, an archive, {STORAGE}NAME or a lane"


def run(project: Project | None, places: Places, arguments: Arguments) -> ExitCode:
    """Print what the image says of itself; an image given by its place needs no project."""
    image = _found(project, places, arguments.image)
    told, entries = told_by(image.place, image.labels)
    if told.layer and told.layer not in {layer.diff_id for layer in image.layers}:
        say(f"{image.place}: its labels tell of a layer {told.layer}, and it has none such")
    if arguments.json:
        emit_json(data(image, told, entries))
    else:
        emit(printable("\n".join(lines(image, told, entries))))
    return ExitCode.CLEAN


def _found(project: Project | None, places: Places, given: str | None) -> Seen:
    if given and given.startswith(STORAGE):
        return in_storage(given)
    if project and (given is None or given in project.lanes()):
        return of_lane(project, places, given or project.upstream.default_lane)
    path = Path(given or ".")
    if given and path.is_dir() and not (path / "index.json").exists():
        raise LanewrightError(
            f"{given} is no OCI layout, or not whole: index.json is not there", hint=NAMED
        )
    if given and path.is_dir():
        return in_layout(path, given)
    if given and path.exists() and not path.is_file():
        raise LanewrightError(
            f"{given} is no regular file: a pipe or a device has no end",
            hint="write it to a file, or name the folder of an OCI layout",
        )
    if given and path.exists():
        return in_archive(path)
    if given is None:
        raise LanewrightError(
            "there is no project here, so that no lane is the default one",
            hint="lanewright image inspect IMAGE, or `lanewright -C PROJECT image inspect`",
        )
    lanes = ", ".join(project.lanes()) if project else ""
    raise LanewrightError(
        f"there is no image {given}"
        + (f", nor a lane of that name (lanes here: {lanes})" * bool(lanes)),
        hint=NAMED,
    )
