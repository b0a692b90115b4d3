"""``lanewright image source``: what builds a lane's image from upstream's source."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.image.source.containerfile import base_of, containerfile
from lanewright.image.source.folder import write_folder
from lanewright.image.source.outside import Outside, is_needed, outside_of
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.build import Built, build
from lanewright.queue.lock import Lock, is_open
from lanewright.queue.same import require_same
from lanewright.report.left_out import say_left_out
from lanewright.report.outcome import counted
from lanewright.store.git import Repository
from lanewright.terminal import emit, quoted, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Write a new folder, whole or not at all; print it."""
    lane = lane_of(project, arguments)
    if arguments.out is None or arguments.out.exists():
        raise LanewrightError(f"{arguments.out} is there already", hint="name a new folder")
    out = arguments.out.resolve()
    built = build(project, places, lane, check=True)
    lock, series = built.lock, built.planned.series
    outside = _outside(project, places, built)
    text = containerfile(series, lock, project.upstream.remote)
    write_folder(Repository(places.objects), lock, outside, text, out)
    _tell(lock, outside)
    say_left_out(project, lock)
    base = "" if base_of(lock) else " --build-arg BASE=IMAGE"
    say(f"  next: buildah build{base} --tag {lane} {quoted(out)}")
    say("  without network: --build-context upstream=CLONE, of upstream with that commit or tag")
    emit(str(out))
    return ExitCode.CLEAN


def _outside(project: Project, places: Places, built: Built) -> list[Outside]:
    """What its pull requests change outside ``vllm/`` and a build needs, in the lane's order."""
    lock, repository = built.lock, Repository(places.objects)
    if not any(entry.pull and entry.pull.outside for entry in lock.entries):
        return []
    applied = apply_plan(project, places, built.planned, keep_going=is_open(lock))
    require_same(lock, applied.lock)
    found = [
        outside_of(places, project.upstream.remote, each.entry.pull)
        for each in applied.carried
        if each.entry.pull and each.entry.pull.outside and is_needed(repository, lock, each)
    ]
    return [each for each in found if each.changed]


def _tell(lock: Lock, outside: list[Outside]) -> None:
    pin = lock.pin
    say(f"lane {lock.lane} on {pin.ref}, tree {lock.tree}")
    if pin.source == "release":
        say(
            f"  a release is Python alone: the rest is that of upstream's tag v{pin.version}, whose"
            " modules the build holds against the release's"
        )
    for each in outside:
        left = f"; {counted(each.left, 'other file')} of it outside vllm/ left" if each.left else ""
        say(f"  #{each.number}: {', '.join(each.changed)}{left}")
