"""``lanewright image run``: the commands that serve a lane from its image, for a shell."""

from lanewright.cli import Arguments, lane_of
from lanewright.cli_image import ENGINES
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.archive.writing import HOST
from lanewright.image.container.command import serving
from lanewright.image.container.engine import Engine, image_name
from lanewright.image.onto.composed import compose
from lanewright.image.onto.standing import standing_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.series import load_series
from lanewright.serve.model import model_name
from lanewright.terminal import emit, quoted


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print two commands: one that brings the image into the engine's storage, one that serves.

    Raises:
        LanewrightError: There is no image, or its generated model was not made yet.
    """
    lane = lane_of(project, arguments)
    lock = build(project, places, lane, check=True).lock
    series = load_series(project, lane)
    folder, base = standing_image(project, places, series, lock)
    model = None
    if series.model.recipe:
        place = places.models / model_name(series.model.recipe)
        if not place.is_dir():
            raise LanewrightError(
                f"lane {lane}: its model {place.name} is not made yet",
                hint=f"lanewright boot {quoted(lane)} makes it",
            )
        model = str(place)
    engine = Engine(arguments.engine or ENGINES[0], arguments.engine or ENGINES[0])
    name = image_name(lock)
    image = compose(lock, base).config.removeprefix("sha256:")
    if engine.name == "podman":
        # It makes a name of the path, in which no part may begin with a dot.
        pull = f"(cd {quoted(folder.parent)} && podman pull {quoted(f'oci:{folder.name}')})"
        emit(f"{pull} && podman tag {image} {name}")
    else:
        # As its archive calls it.
        name = name.removeprefix(HOST)
        # On that base, wherever the shell is; the archive goes, and how it ended stays.
        words = ["-C", str(project.root.resolve()), "image", lane, "--base", base.digest]
        made = f'lanewright {" ".join(map(quoted, words))} --archive "$made" --format docker'
        load = f'docker load --input "$made"/{quoted(lane)}.docker.tar'
        steps = f'{made} >/dev/null && {load}; s=$?; rm -r "$made"; exit $s'
        emit(f"(made=$(mktemp -d) && {{ {steps}; }})")
    emit(" ".join(map(quoted, serving(engine, series, lock, name, model))))
    return ExitCode.CLEAN
