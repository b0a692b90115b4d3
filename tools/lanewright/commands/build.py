"""``lanewright build``: apply a series and write its lock."""

from functools import partial

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.report.left_out import say_left_out
from lanewright.report.outcome import in_one_line
from lanewright.serve.bootable import require_bootable
from lanewright.terminal import emit, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Build the lane's tree; print its id. A lane that nothing could boot is refused as a boot does."""
    lane = lane_of(project, arguments)
    place = project.series_file(lane)
    require = partial(require_bootable, place=place)
    built = build(project, places, lane, check=arguments.check, require=require)
    if built.changed:
        for entry in built.lock.entries:
            say(f"{entry.name}: {in_one_line(entry)}")
        if built.lock.layer:
            say(f"layer: {built.lock.layer.size} bytes, {built.lock.layer.digest}")
        say(f"lane {lane} on {built.lock.pin.ref}: lock written")
    elif built.applied:
        say(f"lane {lane} on {built.lock.pin.ref}: applied, and the tree is that of the lock")
    else:
        say(f"lane {lane} on {built.lock.pin.ref}: nothing to apply, the lock is up to date")
    say_left_out(project, built.lock)
    emit(built.lock.tree)
    return ExitCode.CLEAN
