"""``lanewright fetch``: bring what a lane stands on and carries into the store."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.bundle import take_bundle
from lanewright.queue.inputs import PullInput
from lanewright.queue.pin import resolve_pin
from lanewright.queue.plan import pins_of, plan
from lanewright.queue.pulls import fetch_pulls, keep_facts, pinned_at
from lanewright.store.extract import pull_trees
from lanewright.store.release import hand_over, wheel_of
from lanewright.terminal import emit, say


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Bring every release, commit and pull request that the lane names, as upstream has it now.

    What the lane carries does not move by it: that is pinned by object id.
    """
    if arguments.wheel:
        release, commit = hand_over(places, arguments.wheel.absolute())
        emit(f"{release.distribution} {release.version} {commit}")
        return ExitCode.CLEAN
    if arguments.bundle:
        emit("\n".join(take_bundle(places, arguments.bundle.absolute())))
        return ExitCode.CLEAN
    planned = plan(project, lane_of(project, arguments))
    for spec in pins_of(project, planned):
        pin = resolve_pin(project, places, spec)
        emit(f"{pin.distribution} {pin.version} {pin.commit}")
    pulls = [given for given in planned.inputs if isinstance(given, PullInput)]
    heads = fetch_pulls(project, places, [p.number for p in pulls]) if pulls else {}
    for given in pulls:
        pull_trees(places, project.upstream.remote, given.base, given.head)
        head = heads[given.number]
        if head == given.head:
            emit(f"#{given.number} {head}")
            continue
        others = [each for each in pulls if each.number != given.number]
        pinned = pinned_at(project, places, given.number, head, others)
        pull_trees(places, project.upstream.remote, pinned.base, head)
        emit(f"#{given.number} {head}, carried at {given.head}")
        say(f"#{given.number} moved; what that did to each hunk: lanewright status")
    keep_facts(project, places, list(heads))
    if planned.pin.commit and planned.series.device == "cpu":
        emit(wheel_of(places, planned.pin.release).name)  # a boot links its compiled files
    return ExitCode.CLEAN
