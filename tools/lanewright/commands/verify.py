"""``lanewright verify``: prove that lock, tree and image are what they claim."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.verify import verify
from lanewright.report.left_out import say_left_out
from lanewright.terminal import emit, quoted, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Verify what was asked for, or all that exists."""
    lane = lane_of(project, arguments)
    done = verify(
        project,
        places,
        lane,
        lock=arguments.verify_lock,
        tree=arguments.verify_tree,
        image=arguments.verify_image,
        bundle=arguments.bundle,
    )
    *first, last = done.checks
    told = f"{', '.join(first)} and {last}" if first else last
    emit(f"lane {lane}: {told} verified, tree {done.lock.tree}")
    if "layer" in done.checks:
        say(f"lane {lane}: there is no image on a base here: of one, its layer alone was verified")
        say(f"  next: lanewright image {quoted(lane)}")
    say_left_out(project, done.lock)
    return ExitCode.CLEAN
