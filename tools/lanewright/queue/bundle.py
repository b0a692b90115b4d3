"""Exactly what a lane's lock needs of upstream, in one file that git reads."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.inputs import PullInput
from lanewright.queue.lock import Lock
from lanewright.queue.plan import Plan, pins_of
from lanewright.store.extract import ROOT, pin_ref, pull_refs, require_fit
from lanewright.store.git import Repository, create
from lanewright.store.locking import writing
from lanewright.store.objects import FULL_ID, commit_and_tree, files, resolve
from lanewright.store.scratch import making
from lanewright.store.write import set_refs

TAKE = "take one that `lanewright export` wrote"
KEPT = re.compile(
    r"refs/(?:releases/[A-Za-z0-9._-]+/[0-9][0-9A-Za-z.+!-]*|pins/[0-9a-f]{40}"
    r"|pulls/[0-9a-f]{40}/[0-9a-f]{40}/(?:base|head)|trees/[0-9a-f]{40})"
)


def refs_of(project: Project, planned: Plan) -> list[str]:
    """The store's refs that a lane is built from; nothing of ours is among them."""
    refs = [
        pin_ref(spec.commit) if spec.commit else spec.release.ref
        for spec in pins_of(project, planned)
    ]
    for given in planned.inputs:
        if isinstance(given, PullInput):
            refs += pull_refs(given.base, given.head)
    return refs


def write_bundle(project: Project, places: Places, planned: Plan, lock: Lock, file: Path) -> None:
    """Write a lane's sources and its tree as a git bundle.

    Raises:
        LanewrightError: The store lacks something of it.
    """
    repository = Repository(places.objects)
    refs = [*refs_of(project, planned), f"refs/trees/{lock.tree}"]
    lacking = [ref for ref in refs if resolve(repository, ref) is None]
    if lacking:
        raise LanewrightError(
            f"lane {lock.lane}: the store lacks {lacking[0]}", hint=f"lanewright build {lock.lane}"
        )
    names = "".join(f"{ref}\n" for ref in refs).encode()
    repository.run("bundle", "create", "--quiet", str(file), "--stdin", stdin=names)


def take_bundle(places: Places, file: Path) -> list[str]:
    """Take a bundle's objects into a store.

    Returns:
        The refs that are there now.

    Raises:
        LanewrightError: It is no bundle of ours.
        MismatchError: The store has something else under one of its names; nothing is changed.
    """
    if not file.is_file():
        raise LanewrightError(f"{file}: no such bundle", hint="lanewright export LANE --out DIR")
    with making(places.bundles) as scratch:
        found = _sound(create(scratch / "objects.git"), file)
    with writing(places) as repository:
        for ref, name in found.items():
            known = resolve(repository, ref)
            if known not in {None, name}:
                raise MismatchError(f"{file} has {name} as {ref}, and the store has {known}")
        _unbundled(repository, file)
        set_refs(repository, found)
    return list(found)


def _sound(room: Repository, file: Path) -> dict[str, str]:
    """A bundle's refs, once all that they name was seen to be whole and fit for a lane.

    Raises:
        LanewrightError: Something of it is not.
    """
    found = _unbundled(room, file)
    set_refs(room, found)
    told = room.run("fsck", "--strict", "--no-dangling", "--no-progress", ok=tuple(range(256)))
    if told.status:
        first = [*told.stderr.splitlines(), f"git fsck ended with {told.status}"][0]
        raise LanewrightError(f"{file} is not sound: {first}", hint=TAKE)
    for ref in found:
        commit = commit_and_tree(room, ref)
        listed = files(room, commit[1]) if commit else {}
        require_fit(listed.items(), f"{file}, {ref}")
        strange = [path for path in listed if not path.startswith(f"{ROOT}/")]
        if commit is None or (strange and not ref.startswith("refs/trees/")):
            what = f"has {strange[0]}" if strange else "is no commit"
            raise LanewrightError(f"{file}: {ref} {what}", hint=TAKE)
    return found


def _unbundled(repository: Repository, file: Path) -> dict[str, str]:
    """Take a bundle's objects in; its refs, each by a name that a store of ours may have."""
    output = repository.run("bundle", "unbundle", str(file.absolute()), ok=(0, 1, 128))
    if output.status:
        raise LanewrightError(f"{file} is no whole git bundle: {output.stderr}", hint=TAKE)
    text = output.stdout.decode("utf-8", "replace")
    found = {ref: name for name, _, ref in (line.partition(" ") for line in text.splitlines())}
    for ref, name in found.items():
        odd = ".." in ref or ref.endswith((".lock", "."))
        if odd or not FULL_ID.fullmatch(name) or not KEPT.fullmatch(ref):
            raise LanewrightError(f"{file} is no bundle of a lane: it has {ref}", hint=TAKE)
    return found


@contextmanager
def store_of(project: Project, places: Places, planned: Plan, file: Path) -> Iterator[Places]:
    """A store that holds a bundle and nothing else, for as long as the block runs.

    Raises:
        MismatchError: The bundle lacks something that the lane is built from.
    """
    with making(places.bundles) as scratch:
        alone = Places(scratch, places.state)
        held = set(take_bundle(alone, file))
        lacking = [ref for ref in refs_of(project, planned) if ref not in held]
        if lacking:
            raise MismatchError(
                f"{file} lacks {lacking[0]}, which lane {planned.lane} is built from",
                hint=f"export it again: lanewright export {planned.lane} --out DIR",
            )
        yield alone
