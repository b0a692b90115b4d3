"""``lanewright blame``: which entry each line of a built file comes from."""

from collections import Counter

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.blame import blame
from lanewright.queue.drift import drift
from lanewright.queue.edit.unpinned import no_lock
from lanewright.queue.lock import read_lock
from lanewright.queue.pair import read_pair
from lanewright.terminal import emit, emit_json, printable, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print each line of a file of the lane's tree after the entry that it comes from."""
    lane = lane_of(project, arguments)
    project.series_file(lane)
    lock = read_lock(project.lock_file(lane))
    if lock is None:
        raise no_lock(project, lane)
    _say_drift(project, lane)
    lines = blame(places, lock, arguments.path)
    if arguments.json:
        emit_json(lines)
        return ExitCode.CLEAN
    upstream = lock.pin.ref
    names = [each.entry or upstream for each in lines]
    width, digits = max(map(len, [*names, upstream])), len(str(len(lines)))
    for name, each in zip(names, lines, strict=True):
        emit(f"{name:{width}}  {each.number:{digits}}  {printable(each.text)}".rstrip())
    counts = ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())
    say(f"{arguments.path}: {counts or 'no line'}")
    return ExitCode.CLEAN


def _say_drift(project: Project, lane: str) -> None:
    """Say that the series is another one by now, or that nobody can tell."""
    try:
        told = drift(*read_pair(project, lane))
    except LanewrightError as error:
        told = str(error)
    if told:
        say(f"lane {lane}: the lock is out of date ({told}); this is the tree that was built last")
        say(f"  next: lanewright build {lane}")
