"""``lanewright image smoke``: an image in a container, against the lane outside of one."""

from datetime import UTC, datetime

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.container.engine import engine_here
from lanewright.image.container.in_image import lay_in_image
from lanewright.image.container.seen import Smoke
from lanewright.image.container.smoke import smoke
from lanewright.image.onto.base import own_base, told_base
from lanewright.image.onto.layout import image_folders
from lanewright.image.onto.refusing import require_good_image
from lanewright.image.onto.standing import standing_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.lock import Lock
from lanewright.queue.series import Series, load_series
from lanewright.serve.hardware import require_hardware
from lanewright.serve.lane import lay_lane, only_in_image
from lanewright.serve.record import make_run_folder
from lanewright.store.locking import held
from lanewright.terminal import emit, emit_json, quoted, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Boot the lane's image; print what was compared and how long it took.

    Raises:
        LanewrightError: There is no image, no engine, or nothing to compare with.
        HardwareError: This machine has not what the lane runs on.
        MismatchError: What is in the container is not the lane, or does not answer as it does.
    """
    name = lane_of(project, arguments)
    series = load_series(project, name)
    lock = build(project, places, name, check=True).lock
    if arguments.optional and (missing := why_not(project, places, series, lock, arguments.engine)):
        say(f"lane {name}: not run in a container: {missing}")
        return ExitCode.CLEAN
    require_hardware(name, series.device)
    folder, base = standing_image(project, places, series, lock)
    # Before an environment is made; a lane that is laid out in its image is checked there.
    inside = only_in_image(project, series)
    if not inside:
        require_good_image(places, lock, folder, base)
    if inside:
        lane = lay_in_image(project, places, name, arguments.engine)
    else:
        lane = lay_lane(project, places, name)
    say(f"lane {name}: its image on {told_base(lane.lock, base)}")
    engine = engine_here(arguments.engine)
    work = make_run_folder(places, f"{name}.image", lane.lock.tree, datetime.now(UTC))
    try:
        # Two engines on the same cores wait for each other in spinning loops.
        with held(places.store / "run.lock", "runs a lane", lane=name):
            found = smoke(places, series, lane, folder, base, engine, work)
    except OSError as error:
        raise LanewrightError(f"{work}: {error.strerror or error}") from error
    if arguments.json:
        emit_json({"lane": name, "folder": folder, "logs": work, **vars(found)})
    else:
        emit(_told(name, found))
    return ExitCode.CLEAN


def why_not(
    project: Project, places: Places, series: Series, lock: Lock, engine: str | None = None
) -> str:
    """What a smoke lacks here, for people; empty where it lacks nothing.

    Raises:
        LanewrightError: The lane's base is damaged.
    """
    if not lock.layer:
        return "it has no layer: its series has no [image], or has it built from source"
    if series.boot.shims:
        return f"its shims ({', '.join(series.boot.shims)}) are no part of an image"
    if not image_folders(places, lock):
        if own_base(project, places, series, lock):
            image = f"lanewright image {quoted(lock.lane)}"
            return f"there is no image of its lock on this machine\n  next: {image}"
        return "it has no image on this machine, for there is no base"
    try:
        engine_here(engine)
    except LanewrightError as error:
        return str(error)
    return ""


def _told(name: str, found: Smoke) -> str:
    times = "; ".join(f"{step} {taken:g} s" for step, taken in found.seconds.items())
    outside = ", ".join(f"{step} {taken:.1f} s" for step, taken in found.golden.items())
    lines = [
        f"lane {name}: its image runs in {found.engine}: {found.image}",
        f"  files     {found.files} of the lane's, each as its lock says",
        f"  answers   {found.answers} of {found.answers} equal, {found.tokens} tokens: {found.whose}",
        f"  server    {found.version}, stopped cleanly",
        *(f"  proof     {text}" for text in found.proofs),
        f"  times     {times}",
        f"  outside   {outside}",
    ]
    return "\n".join(lines)
