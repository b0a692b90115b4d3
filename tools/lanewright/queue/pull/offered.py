"""What upstream offers: a pull request as it is now, before anything of it is carried."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.inputs import PullInput, pull_input
from lanewright.queue.merge.units import OnBase
from lanewright.queue.pull.pulls import Pinned, need_remote, pin_pull, read_pull
from lanewright.queue.series import Series, name_of
from lanewright.report.outcome import counted
from lanewright.store.extract import pull_trees
from lanewright.store.fetching import fetch_commits
from lanewright.store.git import Repository
from lanewright.store.history import is_ancestor
from lanewright.store.objects import CommitId

GIT = "git:"
NUMBER = re.compile(r"[1-9][0-9]{0,9}")


@dataclass(frozen=True)
class Offered:
    """A pull request that a lane may carry.

    Attributes:
        number: Its number upstream.
        head: Its commit.
        base: The commit that it is a change of.
        on_base: What it changes there.
        outside: How many files it changes that no lane has.
        told: What of it a person may not expect.
        in_series: Whether the series has it, at this head.
    """

    number: int
    head: CommitId
    base: CommitId
    on_base: OnBase
    outside: int
    told: tuple[str, ...]
    in_series: bool = False


def offered(project: Project, places: Places, series: Series, number: int) -> Offered:
    """Fetch a pull request, as a lane would carry it; one that the series pins stays where it is.

    Raises:
        LanewrightError: It cannot be had, or changes nothing that a lane has.
    """
    own = (each for each in series.entry if each.pull == number and each.is_pinned)
    spec = next(own, None)
    if spec:
        given = pull_input(project, name_of(spec), spec, "")
        pinned = Pinned(number, given.head, given.base)
    else:
        pinned = pin_pull(project, places, number, other_pulls(project, series, number))
    on_base = read_pull(project, places, number, pinned.base, pinned.head)
    outside = pull_trees(places, project.upstream.remote, pinned.base, pinned.head).outside
    told = tuple(unexpected(project, places, series, pinned))
    return Offered(number, pinned.head, pinned.base, on_base, outside, told, spec is not None)


def unexpected(project: Project, places: Places, series: Series, pinned: Pinned) -> Iterator[str]:
    """What of a pull request as it is pinned a person may not expect."""
    name = f"#{pinned.number}"
    trees = pull_trees(places, project.upstream.remote, pinned.base, pinned.head)
    outside = trees.outside
    for path in trees.submodules:
        yield f"{name} changes the submodule {path}, which no lane can have: choose other parts of it"
    if outside:
        yield f"{name} changes {counted(outside, 'file')} outside vllm/ too, which no lane has"
    if pinned.on:
        yield f"{name} is stacked on #{pinned.on}, and carried on top of it"
    elif series.pin.startswith(GIT):
        pin = CommitId(series.pin.removeprefix(GIT))
        fetch_commits(places, need_remote(project), [pin])
        if not is_ancestor(Repository(places.objects), pinned.base, pin):
            yield (
                f"{name} is a change of {pinned.base[:12]}, which is no ancestor of the pin"
                f" {pin[:12]}: the lane gets what it changes, and nothing else of that commit"
            )


def other_pulls(project: Project, series: Series, number: int) -> Sequence[PullInput]:
    """The pull requests that a series carries beside one, as far as they are pinned."""
    return [
        pull_input(project, name_of(spec), spec, "")
        for spec in series.entry
        if spec.pull is not None and spec.pull != number and spec.is_pinned
    ]
