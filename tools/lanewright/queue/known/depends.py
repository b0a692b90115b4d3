"""All that an entry's result depends on, as one key."""

import hashlib
from dataclasses import dataclass

import msgspec

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.inputs import Input, OverlayInput, PatchInput, PullInput
from lanewright.queue.known.makers import makers
from lanewright.queue.pin import Pin, resolve_pin
from lanewright.queue.plan import Plan, base_of
from lanewright.store.extract import pull_refs
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, commits_named
from lanewright.store.odb import objects_of


@dataclass(frozen=True)
class Lane:
    """What the results of all entries of a lane depend on.

    Attributes:
        project: The user's project.
        places: The store.
        planned: The lane.
        pin: What it stands on.
    """

    project: Project
    places: Places
    planned: Plan
    pin: Pin

    @property
    def repository(self) -> Repository:
        """The store's objects."""
        return Repository(self.places.objects)


def key_of(lane: Lane, given: Input, tree: TreeId, before: str) -> str | None:
    """A digest of all that a result depends on; None while the store lacks a source of it.

    Args:
        lane: Pin, project and store.
        given: The entry.
        tree: What it is put onto.
        before: A digest of which earlier entry changed which files.

    Raises:
        LanewrightError: The base of a patch cannot be had.
    """
    source = _source(lane, given)
    if source is None:
        return None
    stated = [type(given).__name__, given.name, given.place, given.digest, *source]
    return digest_of([makers(lane.repository), lane.pin, tree, before, stated])


def _source(lane: Lane, given: Input) -> list[object] | None:
    if isinstance(given, OverlayInput):
        return [given.source]
    fixes = [(fix.file, fix.digest) for fix in given.fixes]
    stated: list[object] = [given.choice, given.claims, fixes]
    if isinstance(given, PatchInput):
        base = resolve_pin(lane.project, lane.places, base_of(lane.project, lane.planned, given))
        path = given.patch.path.relative_to(lane.project.root).as_posix()
        return [*stated, path, base, repr(given.patch.diff)]
    kept = commits_named(lane.repository, pull_refs(given.base, given.head))
    return [*stated, *kept, _is_checked(lane, given)] if all(kept) else None


def _is_checked(lane: Lane, given: PullInput) -> bool:
    """Whether the commits are here that the extract of a pull request is held against."""
    return all(each in objects_of(lane.repository) for each in (given.base, given.head))


def digest_of(stated: object) -> str:
    """sha256 of values, such as names, ids and structs of them."""
    return hashlib.sha256(msgspec.json.encode(stated)).hexdigest()
