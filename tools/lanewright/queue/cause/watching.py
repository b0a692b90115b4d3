"""Pull requests that a lane watches: fetched and tried alone on its pin, never carried."""

from dataclasses import dataclass, replace

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import change_of
from lanewright.queue.carried import Carried
from lanewright.queue.carry import carry_change
from lanewright.queue.inputs import PullInput, pull_input
from lanewright.queue.pin import Pin
from lanewright.queue.plan import Plan
from lanewright.queue.pull.pulls import known_head, pinned_at
from lanewright.queue.series import EntrySpec
from lanewright.store.git import Repository


@dataclass(frozen=True)
class Watched:
    """A watched pull request.

    Attributes:
        number: Its number.
        given: It as an entry that takes all of it; None where it was not fetched yet.
        carried: What becomes of it on the pin, alone; None where it cannot be tried.
        why: Why it cannot.
    """

    number: int
    given: PullInput | None = None
    carried: Carried | None = None
    why: str = ""


def watched(project: Project, places: Places, planned: Plan) -> list[Watched]:
    """What a lane watches and does not carry, as it was fetched last; no network."""
    carried = {given.number for given in planned.inputs if isinstance(given, PullInput)}
    numbers = dict.fromkeys(planned.series.watch)
    return [
        _known(project, places, planned.lane, number) for number in numbers if number not in carried
    ]


def _known(project: Project, places: Places, lane: str, number: int) -> Watched:
    head = known_head(project, places, number)
    if head is None:
        return Watched(number, why="not fetched yet")
    try:
        pinned = pinned_at(project, places, number, head, [])
        spec = EntrySpec(pull=number, head=head, base=pinned.base)
        given = pull_input(project, str(number), spec, f"series/{lane}.toml: watch")
    except LanewrightError as error:
        return Watched(number, why=str(error))
    return Watched(number, given)


def try_watched(
    project: Project, places: Places, planned: Plan, pin: Pin, given: Watched
) -> Watched:
    """Try one on the pin, with nothing else there; what stops that is told with it."""
    if given.given is None:
        return given
    try:
        change, blank = change_of(project, places, planned, given.given)
        repository = Repository(places.objects)
        carried = carry_change(repository, given.given, change, blank, pin, pin.tree, {})
    except LanewrightError as error:
        return replace(given, why=str(error))
    return replace(given, carried=carried)
