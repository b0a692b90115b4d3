"""``lanewright image``: a lane's changed files as one layer, and on a base its image."""

from pathlib import Path

from lanewright.cli import Arguments, lane_of
from lanewright.cli_image import BACKENDS, FORMATS
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.archive.writing import archived
from lanewright.image.backend.build import Built, build_by
from lanewright.image.check import differences, require_intact_layout
from lanewright.image.layout import lay_out, layout_folder
from lanewright.image.onto.base import found_base
from lanewright.image.onto.making import Made, make_image
from lanewright.image.onto.unused import removal
from lanewright.image.opened.image import OpenImage
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.lock import Lock, layer_of
from lanewright.queue.series import Series, load_series
from lanewright.report.left_out import say_left_out
from lanewright.store.git import Repository
from lanewright.terminal import emit, emit_json, quoted, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Make what is not there yet; print what there is: digest and folder.

    A lane whose base is made here and is not yet gets its layer alone, which takes no tool; where a
    base cannot be had, the layer is made all the same before that is told.
    """
    lane = lane_of(project, arguments)
    lock = build(project, places, lane, check=True).lock
    series = load_series(project, lane)
    if series.image and series.image.kind == "source":
        raise LanewrightError(
            f"lane {lane} is built from source, and has no layer",
            hint=f"lanewright image source {quoted(lane)} --out DIR",
        )
    layer_of(lock)
    repository = Repository(places.objects)
    base, missing = _base(project, places, series, lock, arguments.base)
    out = arguments.out and arguments.out.resolve()
    if missing:
        # The layer needs none.
        _layer(repository, places, lock, None)
        raise missing
    if arguments.archive and base is None:
        raise LanewrightError(
            f"lane {lane}: an archive has its whole image, and there is no base", hint=_next(lane)
        )
    layer = _layer(repository, places, lock, None if base else out)
    unused = removal(project, places, lock, base) if base and arguments.base else ""
    made = base and make_image(places, lock, base, out, unused=unused)
    built = _built(places, lock, base, arguments.backend)
    say_left_out(project, lock)
    told: dict[str, object] = {"lane": lane, "layer": layer_of(lock), "layout": layer}
    if built:
        say(f"lane {lane}: {arguments.backend} made {built.name}")
        told |= {"backend": arguments.backend, "name": built.name, "backend_id": built.id}
    if made:
        told |= _told(made)
        if arguments.archive:
            form = arguments.archive_format or FORMATS[0]
            told["archive"] = archived(project, places, lock, made, arguments.archive, form)
    else:
        say(f"lane {lane}: no image yet, for there is no base\n  next: {_next(lane)}")
    if arguments.json:
        emit_json(told)
    elif made:
        emit(f"{made.image.digest} {made.folder}")
    else:
        emit(f"{layer_of(lock).digest} {layer}")
    return ExitCode.CLEAN


def _base(
    project: Project, places: Places, series: Series, lock: Lock, given: str | None
) -> tuple[OpenImage | None, LanewrightError | None]:
    try:
        return found_base(project, places, series, lock, given), None
    except LanewrightError as error:
        return None, error


def _built(places: Places, lock: Lock, base: OpenImage | None, backend: str) -> Built | None:
    if backend == BACKENDS[0]:
        return None
    if base is None:
        raise LanewrightError(
            f"lane {lock.lane}: {backend} has no base to build on", hint=_next(lock.lane)
        )
    return build_by(places, lock, base, backend)


def _next(lane: str) -> str:
    return f"lanewright image base {quoted(lane)}"


def _told(made: Made) -> dict[str, object]:
    return {
        "image": made.image.digest,
        "id": made.image.config,
        "base": made.base.digest,
        "platform": made.base.platform,
        "folder": made.folder,
        "size": made.size,
        "new": made.new,
    }


def _layer(repository: Repository, places: Places, lock: Lock, out: Path | None) -> Path:
    folder = out or layout_folder(places, lock)
    if _holds_something(folder):
        if out and differences(repository, lock, out):
            raise LanewrightError(
                f"{out} holds something, and it is not this image",
                hint="name an empty or a new folder",
            )
        require_intact_layout(repository, lock, folder)
        say(f"lane {lock.lane}: the layer is there already, and as its lock says")
    else:
        lay_out(repository, lock, folder)
        layer = layer_of(lock)
        say(f"lane {lock.lane}: layer made, {layer.size} bytes for {layer.site_packages}")
    return folder


def _holds_something(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except FileNotFoundError:
        return False
