"""``lanewright export``: a lane's sources in a bundle, and its changes as a quilt series."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.bundle import write_bundle
from lanewright.queue.quilt import write_quilt
from lanewright.report.left_out import say_left_out
from lanewright.store.git import Repository
from lanewright.store.scratch import making
from lanewright.terminal import emit, quoted, say, stage


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Write a new folder, whole or not at all."""
    lane = lane_of(project, arguments)
    built = build(project, places, lane, check=True)
    lock = built.lock
    out = arguments.out.resolve() if arguments.out else project.root / "export"
    if out.exists():
        raise LanewrightError(f"{out} is there already", hint="name a new folder")
    with stage(f"exporting lane {lane}"), making(out.parent) as scratch:
        write_bundle(project, places, built.planned, lock, scratch / f"{lane}.bundle")
        names = write_quilt(Repository(places.objects), lock, scratch / "patches")
        scratch.rename(out)
    say(f"lane {lane}: {len(names)} patches on {lock.pin.ref}, tree {lock.tree}")
    say(f"next: lanewright verify {lane} --bundle {quoted(out / f'{lane}.bundle')}")
    say_left_out(project, lock)
    emit(str(out))
    return ExitCode.CLEAN
