"""From a series to a tree and its lock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from lanewright.errors import ConflictError, DriftError, LanewrightError, MismatchError
from lanewright.image.layer import LayerError, layer_content
from lanewright.image.oci import digest_of
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.carry import Carried, Change, carry_change, carry_overlay
from lanewright.queue.inputs import ChangeInput, OverlayInput, PatchInput
from lanewright.queue.lock import (
    SCHEMA,
    Lock,
    LockedEntry,
    LockedLayer,
    LockedPull,
    read_lock,
    sealed,
    write_lock,
)
from lanewright.queue.pin import Pin, resolve_pin
from lanewright.queue.plan import Plan, base_of, drift, plan, with_fixes
from lanewright.queue.pulldiff import pull_diff
from lanewright.queue.recipe import Recipe
from lanewright.store.extract import pin_ref, pull_trees
from lanewright.store.git import Repository
from lanewright.store.locking import writing
from lanewright.store.objects import CommitId, TreeId, changes, exists, resolve
from lanewright.store.write import commit, set_ref


@dataclass(frozen=True)
class Applied:
    """A plan, carried out in the store; nothing written beside objects.

    Attributes:
        lock: What it came to.
        carried: Every entry, in order.
        again: Per entry, fixes that were merged again and are to be recorded with the lock.
    """

    lock: Lock
    carried: tuple[Carried, ...]
    again: dict[str, tuple[Recipe, ...]]

    @property
    def conflicts(self) -> tuple[Carried, ...]:
        """The entries that need a person, and are left out."""
        return tuple(each for each in self.carried if each.conflicts)


@dataclass(frozen=True)
class Built:
    """A lane whose lock is on disk.

    Attributes:
        lock: It.
        applied: Whether this run applied the entries.
        changed: Whether this run wrote the lock.
    """

    lock: Lock
    applied: bool
    changed: bool


def apply_plan(
    project: Project, places: Places, planned: Plan, *, keep_going: bool = False
) -> Applied:
    """Carry every entry; one that conflicts is left out and the next are still tried.

    Args:
        project: The user's project.
        places: Store and state.
        planned: What to carry.
        keep_going: Whether the lane is wanted without the entries that conflict, too.

    Raises:
        LanewrightError: A source cannot be had, a patch does not match its base, a gate failed, or
            a changed file cannot be in the layer that the series asks for.
    """
    pin = resolve_pin(project, places, planned.pin)
    repository = Repository(places.objects)
    tree = pin.tree
    carried: list[Carried] = []
    touched: dict[str, list[str]] = {}
    for given in planned.inputs:
        if isinstance(given, OverlayInput):
            result = carry_overlay(repository, given, tree)
        else:
            change, blank = _change(project, places, planned, given, tree)
            result = carry_change(repository, given, change, blank, pin, tree, touched)
        for path in changes(repository, tree, result.entry.tree):
            touched.setdefault(path, []).append(given.name)
        tree = result.entry.tree
        carried.append(result)
    conflicts = any(each.conflicts for each in carried)
    again = {each.entry.name: each.again for each in carried if each.again and not each.conflicts}
    lock = Lock(
        schema=SCHEMA,
        lane=planned.lane,
        inputs=with_fixes(project, planned, again).digest,
        pin=pin,
        entries=[each.entry for each in carried],
        tree=tree,
        layer=UNSET
        if conflicts and not keep_going
        else _layer(repository, planned, pin, tree, touched),
    )
    return Applied(sealed(lock), tuple(carried), again)


def _change(
    project: Project, places: Places, planned: Plan, given: ChangeInput, tree: TreeId
) -> tuple[Change, LockedEntry]:
    """What an entry changes, and what the lock says of it before it is carried."""
    blank = LockedEntry(
        name=given.name,
        kind="patch",
        source="",
        digest=given.digest,
        tree=tree,
        claims=list(given.claims),
    )
    if isinstance(given, PatchInput):
        base = resolve_pin(project, places, base_of(project, planned, given))
        source = given.patch.path.relative_to(project.root).as_posix()
        blank = replace(blank, source=source, base=base)
        return Change(given.patch.diff, base.tree, base.ref), blank
    trees = pull_trees(places, project.upstream.remote, given.base, given.head)
    pull = LockedPull(given.number, given.head, given.base, trees.outside)
    repository = Repository(places.objects)
    diff = pull_diff(repository, trees.base, trees.head, f"#{given.number}")
    blank = replace(blank, kind="pull", source=diff.source, pull=pull)
    return Change(diff, trees.base, given.base[:12]), blank


def _layer(
    repository: Repository,
    planned: Plan,
    pin: Pin,
    tree: TreeId,
    touched: Mapping[str, Sequence[str]],
) -> LockedLayer | UnsetType:
    if planned.series.image is None:
        return UNSET
    root = planned.series.image.site_packages
    try:
        content = layer_content(repository, pin.tree, tree, root)
    except LayerError as error:
        names = " and ".join(touched.get(error.path, ()))
        place = f"series/{planned.lane}.toml ({names}): {error.path}"
        raise LayerError(place, error.why) from error
    return LockedLayer(digest_of(content), len(content), root)


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
        MismatchError: The lock's inputs are unchanged but give another tree here, or a release
            that it names is another commit here.
    """
    planned = plan(project, lane)
    file = project.lock_file(lane)
    old = read_lock(file)
    settled = old is not None and old.inputs == planned.digest
    if old and settled and in_store(places, old):
        return Built(old, applied=False, changed=False)
    if check and not settled:
        raise DriftError(
            f"lane {lane}: the lock is out of date: {drift(planned, old)}",
            hint=f"lanewright build {lane}",
        )
    applied = apply_plan(project, places, planned)
    if applied.conflicts:
        raise ConflictError(_told(applied), hint=f"lanewright report {lane}")
    if old:
        _require_same_sources(old, applied.lock)
    if old and settled:
        require_same(old, applied.lock)
    _commit(project, places, applied.lock, keep=settled)
    return Built(applied.lock, applied=True, changed=not settled)


def in_store(places: Places, lock: Lock) -> bool:
    """Whether the store holds a lock's tree."""
    return places.objects.exists() and exists(Repository(places.objects), [lock.tree])


def require_same(old: Lock, new: Lock) -> None:
    """Compare a lock with what its inputs give now.

    Raises:
        MismatchError: They differ; the message names the first value that does.
    """
    # Their seals differ where anything does, and say nothing of what.
    bare = [msgspec.to_builtins(msgspec.structs.replace(lock, seal="")) for lock in (old, new)]
    found = first_difference(*bare)
    if found:
        place, locked, now = found
        raise MismatchError(
            f"lane {old.lane}: the lock says {place} = {locked}, but applying its series gives {now}",
            hint="either another lanewright or git wrote the lock, or the store's releases are not"
            f" those it was made from; if this is the right one, remove {old.lane}.lock and run"
            f" `lanewright build {old.lane}`",
        )


def _require_same_sources(old: Lock, new: Lock) -> None:
    """A release never changes: one that the old lock names must still be that commit.

    Raises:
        MismatchError: The store has another tree under the name of a locked release.
    """
    locked = {(pin.distribution, pin.ref): pin.commit for pin in _pins(old)}
    for pin in _pins(new):
        known = locked.get((pin.distribution, pin.ref), pin.commit)
        if known != pin.commit:
            raise MismatchError(
                f"lane {old.lane}: {pin.distribution} {pin.version} is commit {pin.commit} in the"
                f" store, and the lock says {known}",
                hint="the store's release is not the one that the lock was made from; remove the"
                " store, or hand the right wheel over with `lanewright fetch --wheel FILE`",
            )


def _pins(lock: Lock) -> list[Pin]:
    return [lock.pin, *(entry.base for entry in lock.entries if entry.base)]


def first_difference(old: object, new: object, place: str = "lock") -> tuple[str, str, str] | None:
    """Where two JSON values first differ, and what each has there."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(f"{place}.{key}", old.get(key), new.get(key)) for key in {**old, **new}]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(f"{place}[{n}]", a, b) for n, (a, b) in enumerate(zip(old, new, strict=True))]
    else:
        return None if old == new else (place.removeprefix("lock."), repr(old), repr(new))
    return next(filter(None, (first_difference(a, b, name) for name, a, b in pairs)), None)


def _told(applied: Applied) -> str:
    entries = [each.entry.name for each in applied.conflicts]
    lines = [f"lane {applied.lock.lane}: in conflict: {', '.join(entries)}"]
    for each in applied.conflicts:
        lines += [
            f"  {each.entry.name}: {hunk.path}, hunk {hunk.id}"
            f"{f' in {hunk.symbol}' if hunk.symbol else ''}: {hunk.outcome}; {hunk.cause}"
            for hunk in each.entry.hunks
            if hunk.open
        ]
    return "\n".join(lines)


def _commit(project: Project, places: Places, lock: Lock, *, keep: bool) -> None:
    """Objects and ref first; renaming the lock file is the one commit point."""
    with writing(places) as repository:
        parent = lock.pin.commit
        if lock.pin.source == "git":
            parent = CommitId(resolve(repository, pin_ref(parent)) or parent)
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
