"""From a series to a tree and its lock."""

import hashlib
from dataclasses import dataclass

import msgspec

from lanewright.errors import ConflictError, DriftError, LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.carry import Carried, carry_overlay, carry_patch
from lanewright.queue.inputs import Input, PatchInput, overlay_input, patch_input
from lanewright.queue.lock import SCHEMA, Lock, LockedEntry, read_lock, write_lock
from lanewright.queue.pin import Pin, release_of, resolve_pin
from lanewright.queue.series import Series, load_series, name_of, patch_for
from lanewright.store.git import Repository
from lanewright.store.locking import writing
from lanewright.store.objects import CommitId, commit, exists, set_ref
from lanewright.store.release import Release


@dataclass(frozen=True)
class Plan:
    """A series with everything it names read from disk; nothing applied yet.

    Attributes:
        lane: The lane's name.
        series: What people want.
        inputs: In series order.
        digest: sha256 over the pin and every input; the lock of equal inputs is still good.
    """

    lane: str
    series: Series
    inputs: tuple[Input, ...]
    digest: str


@dataclass(frozen=True)
class Applied:
    """A plan, carried out in the store; nothing written beside objects."""

    lock: Lock
    conflicts: tuple[Carried, ...]


@dataclass(frozen=True)
class Built:
    """A lane whose lock is on disk; ``changed`` tells whether this run wrote it."""

    lock: Lock
    changed: bool


def plan(project: Project, lane: str) -> Plan:
    """Read a series and everything it names.

    Raises:
        LanewrightError: Unknown lane, bad series, missing patch or overlay.
    """
    series = load_series(project, lane)
    file = project.series_file(lane).relative_to(project.root)
    version = release_of(project, series.device, series.pin, place=f"{file}: pin").version
    inputs: list[Input] = []
    for number, entry in enumerate(series.entry, 1):
        place, name = f"{file}: entry {number}", name_of(entry)
        if entry.overlay is not None:
            inputs.append(overlay_input(project, name, entry.overlay, place))
        else:
            chosen = patch_for(entry, version, place)
            inputs.append(patch_input(project, name, chosen, entry.select or [], place))
    stated = [
        project.upstream.releases.get(series.device),
        series.pin,
        [[i.name, i.digest, i.select if isinstance(i, PatchInput) else None] for i in inputs],
    ]
    digest = hashlib.sha256(msgspec.json.encode(stated)).hexdigest()
    return Plan(lane, series, tuple(inputs), digest)


def refs_of(project: Project, planned: Plan) -> list[Release]:
    """Every release that a plan needs: its pin's, then those its patches were made on."""
    file = f"series/{planned.lane}.toml: pin"
    named = [(planned.series.pin, file)]
    named += [
        (given.base_ref, f"{given.patch.path.relative_to(project.root)}: Base")
        for given in planned.inputs
        if isinstance(given, PatchInput)
    ]
    device = planned.series.device
    releases = [release_of(project, device, ref, place=place) for ref, place in named]
    return list(dict.fromkeys(releases))


def apply_plan(project: Project, places: Places, planned: Plan) -> Applied:
    """Carry every entry; one that conflicts is left out and the next are still tried.

    Raises:
        LanewrightError: A source cannot be had, a patch does not match its base, a gate failed.
    """
    pin = _pin(project, places, planned, planned.series.pin, f"series/{planned.lane}.toml: pin")
    repository = Repository(places.objects)
    tree = pin.tree
    carried: list[Carried] = []
    for given in planned.inputs:
        if isinstance(given, PatchInput):
            place = f"{given.patch.path.relative_to(project.root)}: Base"
            base = _pin(project, places, planned, given.base_ref, place)
            result = carry_patch(repository, project.root, given, base, pin, tree)
        else:
            result = carry_overlay(repository, given, tree)
        tree = result.entry.tree
        carried.append(result)
    lock = Lock(
        schema=SCHEMA,
        lane=planned.lane,
        inputs=planned.digest,
        pin=pin,
        entries=[each.entry for each in carried],
        tree=tree,
    )
    return Applied(lock, tuple(each for each in carried if each.conflicts))


def _pin(project: Project, places: Places, planned: Plan, ref: str, place: str) -> Pin:
    return resolve_pin(places, release_of(project, planned.series.device, ref, place=place))


def build(project: Project, places: Places, lane: str, *, check: bool = False) -> Built:
    """Make a lane's tree and lock; does nothing when its inputs are those of the lock.

    Args:
        project: The user's project.
        places: Store and state.
        lane: The lane's name.
        check: Write nothing; raise if the lock would change.

    Raises:
        ConflictError: Entries conflict; the old lock stays.
        DriftError: ``check`` was asked and the lock is out of date.
        MismatchError: The lock's inputs are unchanged but give another tree here.
    """
    planned = plan(project, lane)
    file = project.lock_file(lane)
    old = read_lock(file)
    settled = old is not None and old.inputs == planned.digest
    if old and settled and in_store(places, old):
        return Built(old, changed=False)
    if check and not settled:
        raise DriftError(
            f"lane {lane}: the series says something else than its lock",
            hint=f"lanewright build {lane}",
        )
    applied = apply_plan(project, places, planned)
    if applied.conflicts:
        raise ConflictError(_told(applied), hint=f"lanewright report {lane}")
    if old and settled:
        require_same(old, applied.lock)
    _commit(project, places, applied.lock, keep=settled)
    return Built(applied.lock, changed=not settled)


def in_store(places: Places, lock: Lock) -> bool:
    """Whether the store holds a lock's tree."""
    return places.objects.exists() and exists(Repository(places.objects), [lock.tree])


def require_same(old: Lock, new: Lock) -> None:
    """Compare a lock with what its inputs give now.

    Raises:
        MismatchError: They differ; the message names the first step that does.
    """
    steps: list[tuple[str, str, str]] = [("pin", old.pin.commit, new.pin.commit)]
    steps += [
        (f"entry {ours.name}", locked, found)
        for ours, theirs in zip(old.entries, new.entries, strict=False)
        for locked, found in zip(_ids(ours), _ids(theirs), strict=True)
    ]
    for name, locked, found in [*steps, ("lane", old.tree, new.tree)]:
        if locked != found:
            raise MismatchError(
                f"lane {old.lane}: {name} gives {found} here, the lock says {locked}",
                hint="the inputs are those of the lock, so the store's sources differ from those"
                " it was made from; see that `lanewright fetch` brings the same wheels",
            )


def _ids(entry: LockedEntry) -> tuple[str, str, str]:
    """Everything that an entry's place in the lane rests on."""
    return (entry.base.commit if entry.base else "none", entry.subset or "none", entry.tree)


def _told(applied: Applied) -> str:
    lines = [f"lane {applied.lock.lane}: {len(applied.conflicts)} entries conflict"]
    for each in applied.conflicts:
        lines += [
            f"  {each.entry.name}: {hunk.path}, hunk {hunk.id}"
            f"{f' in {hunk.symbol}' if hunk.symbol else ''}: {hunk.outcome}; {hunk.cause}"
            for hunk in each.entry.hunks
            if hunk.outcome in {"conflict", "file missing"}
        ]
    return "\n".join(lines)


def _commit(project: Project, places: Places, lock: Lock, *, keep: bool) -> None:
    """Objects and ref first; renaming the lock file is the one commit point."""
    with writing(places) as repository:
        parent = CommitId(lock.pin.commit)
        tip = commit(repository, lock.tree, f"lane {lock.lane} on {lock.pin.ref}\n", [parent])
        set_ref(repository, f"refs/trees/{lock.tree}", tip)
        if keep:
            return
        try:
            write_lock(project.lock_file(lock.lane), lock)
        except OSError as error:
            raise LanewrightError(
                f"cannot write {project.lock_file(lock.lane)}: {error.strerror}"
            ) from error
