"""``lanewright fetch``: bring what a lane stands on and carries into the store."""

from collections.abc import Sequence

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.bundle import take_bundle
from lanewright.queue.cause.ends import bring_tags
from lanewright.queue.cause.watching import Watched, watched
from lanewright.queue.inputs import PullInput
from lanewright.queue.pin import resolve_pin
from lanewright.queue.plan import pins_of, plan
from lanewright.queue.pull.pulls import Pinned, fetch_pulls, keep_facts, pinned_at
from lanewright.store.bringing import bring
from lanewright.store.extract import pull_trees
from lanewright.store.objects import CommitId
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
    pulls = [given for given in planned.inputs if isinstance(given, PullInput)]
    wanted = list(dict.fromkeys([*(each.number for each in pulls), *planned.series.watch]))
    carried = [each.number for each in pulls]
    heads = fetch_pulls(project, places, carried, planned.series.watch) if wanted else {}
    pins = [resolve_pin(project, places, spec) for spec in pins_of(project, planned)]
    for pin in pins:
        emit(f"{pin.distribution} {pin.version} {pin.commit}")
    if wanted:
        bring_tags(project, places, [pin.version for pin in pins if pin.source == "release"])
    beside = watched(project, places, planned)
    newest = [_newest(project, places, heads[each.number], each, pulls) for each in pulls]
    both = [(each.base, each.head) for each in pulls] + [(e.base, e.head) for e in newest]
    changes = dict.fromkeys(both)
    tried = [(each.given.base, each.given.head) for each in beside if each.given]
    bring(places, project.upstream.remote, [], [*changes, *tried])
    for base, head in changes:
        pull_trees(places, project.upstream.remote, base, head)
    for given in pulls:
        _tell(given, heads[given.number])
    for each in beside:
        _tell_watched(project, places, planned.lane, each, heads.get(each.number))
    keep_facts(project, places, [number for number in wanted if number in heads])
    if planned.pin.commit and planned.series.device == "cpu":
        emit(wheel_of(places, planned.pin.release).name)  # a boot links its compiled files
    return ExitCode.CLEAN


def _newest(
    project: Project,
    places: Places,
    head: CommitId,
    given: PullInput,
    pulls: Sequence[PullInput],
) -> Pinned:
    """A carried pull request as upstream has it now."""
    if head == given.head:
        return Pinned(given.number, given.head, given.base)
    others = [each for each in pulls if each.number != given.number]
    return pinned_at(project, places, given.number, head, others)


def _tell_watched(
    project: Project, places: Places, lane: str, beside: Watched, head: CommitId | None
) -> None:
    """Say where it is; one that cannot be tried stops nothing."""
    if head is None:
        say(
            f"#{beside.number} is watched in series/{lane}.toml, and upstream has no such pull"
            " request: take it out of `watch`"
        )
        return
    emit(f"#{beside.number} {head}, watched")
    why = beside.why
    if beside.given:
        try:
            pull_trees(places, project.upstream.remote, beside.given.base, beside.given.head)
        except LanewrightError as error:
            why = str(error)
    if why:
        say(f"#{beside.number} cannot be tried: {why}")


def _tell(given: PullInput, head: CommitId) -> None:
    if head == given.head:
        emit(f"#{given.number} {head}")
        return
    emit(f"#{given.number} {head}, carried at {given.head}")
    say(f"#{given.number} moved; what that did to each hunk: lanewright status")
