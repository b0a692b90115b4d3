"""How a carried pull request stands beside upstream's, as it was fetched last; no network."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.inputs import PullInput
from lanewright.queue.lock import Lock
from lanewright.queue.merge.choose import choose
from lanewright.queue.plan import Plan
from lanewright.queue.pull.drifted import Drifted, drifted
from lanewright.queue.pull.pulls import known_head, pinned_at, read_pull
from lanewright.store.extract import pull_refs
from lanewright.store.git import Repository
from lanewright.store.github import known
from lanewright.store.history import is_ancestor
from lanewright.store.objects import CommitId, exists, resolve


class PullStatus(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One carried pull request.

    Attributes:
        number: Its number.
        head: The commit that the series names.
        place: Whether the lane's lock carries that, or was written without it, or does not have it.
        newest: Upstream's, where it is another one.
        hunks: What the update did to each chosen hunk, and what is new.
        note: What else a person should know.
        title: As GitHub has it, where it was asked.
        state: The same: ``open``, ``closed`` or ``merged``.
        merged_as: The commit that brought it into upstream's branch, where it is merged.
    """

    number: int
    head: CommitId
    place: Literal["carried", "left out", "not carried yet"] = "carried"
    newest: CommitId | None = None
    hunks: list[Drifted] = []
    note: str = ""
    title: str = ""
    state: str = ""
    merged_as: str = ""


def pulls_of(planned: Plan) -> list[PullInput]:
    """The pull requests that a lane carries."""
    return [given for given in planned.inputs if isinstance(given, PullInput)]


def pull_statuses(project: Project, places: Places, planned: Plan) -> list[PullStatus]:
    """How each carried pull request stands."""
    pulls = pulls_of(planned)
    return [_status(project, places, planned, given, pulls) for given in pulls]


def with_place(status: PullStatus, lock: Lock | None) -> PullStatus:
    """How a pull request stands, beside a lane's lock too."""
    for entry in lock.entries if lock else ():
        if entry.pull and (entry.pull.number, entry.pull.head) == (status.number, status.head):
            is_open = any(hunk.open for hunk in entry.hunks)
            return msgspec.structs.replace(status, place="left out" if is_open else "carried")
    return msgspec.structs.replace(status, place="not carried yet")


def _status(
    project: Project,
    places: Places,
    planned: Plan,
    given: PullInput,
    pulls: Sequence[PullInput],
) -> PullStatus:
    newest = known_head(project, places, given.number)
    status = PullStatus(number=given.number, head=given.head, note=_note(places, planned, given))
    remote = project.upstream.remote
    facts = known(places, remote.key, given.number) if remote else None
    if facts:
        merged = facts.merged_as or ""
        status = msgspec.structs.replace(
            status, title=facts.title, state=facts.state, merged_as=merged
        )
    if newest is None or newest == given.head:
        return status
    others = [each for each in pulls if each.number != given.number]
    try:
        hunks = _hunks(project, places, given, newest, others)
    except LanewrightError as error:
        note = "; ".join(filter(None, [status.note, f"what changed cannot be told: {error}"]))
        return msgspec.structs.replace(status, newest=newest, note=note)
    return msgspec.structs.replace(status, newest=newest, hunks=hunks)


def _hunks(
    project: Project,
    places: Places,
    given: PullInput,
    newest: CommitId,
    others: Sequence[PullInput],
) -> list[Drifted]:
    pinned = pinned_at(project, places, given.number, newest, others)
    repository = Repository(places.objects)
    if resolve(repository, pull_refs(pinned.base, newest)[1]) is None:
        raise LanewrightError("its contents were not fetched", hint="lanewright fetch")
    before = read_pull(project, places, given.number, given.base, given.head)
    after = read_pull(project, places, given.number, pinned.base, newest)
    return drifted(before, choose(before, given.choice, given.place), after)


def _note(places: Places, planned: Plan, given: PullInput) -> str:
    """Whether its base is no ancestor of the pin, where the store can tell."""
    commit = planned.pin.commit
    if commit is None or not places.objects.exists():
        return ""
    repository = Repository(places.objects)
    if not exists(repository, [commit, given.base]):
        return ""
    try:
        older = is_ancestor(repository, given.base, commit)
    except LanewrightError:
        return ""
    return "" if older else f"its base {given.base[:12]} is no ancestor of the pin"
