"""From a series to a tree and its lock."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lanewright.errors import ConflictError, DriftError, MismatchError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.drift import drift
from lanewright.queue.edit.unpinned import no_lock
from lanewright.queue.lock import Lock, encode, is_open
from lanewright.queue.move.held import keep_held
from lanewright.queue.pair import read_pair
from lanewright.queue.pin import Pin
from lanewright.queue.plan import Plan
from lanewright.queue.series import Series
from lanewright.store.git import Repository
from lanewright.store.locking import writing
from lanewright.store.objects import CommitId, exists, resolve
from lanewright.store.write import commit, set_ref
from lanewright.transaction.editing import editing
from lanewright.transaction.replace import replace_together

if TYPE_CHECKING:
    from lanewright.queue.apply import Applied


@dataclass(frozen=True)
class Built:
    """A lane whose lock is on disk.

    Attributes:
        planned: What the series names.
        lock: What it came to.
        applied: Whether this run applied the entries.
        changed: Whether this run wrote the lock.
    """

    planned: Plan
    lock: Lock
    applied: bool
    changed: bool


def build(
    project: Project,
    places: Places,
    lane: str,
    *,
    check: bool = False,
    require: Callable[[Series], None] | None = None,
) -> Built:
    """Make a lane's tree and lock; does nothing when its inputs are those of the lock.

    Args:
        project: The user's project.
        places: Store and state.
        lane: The lane's name.
        check: Write nothing; raise if the lock would change.
        require: Refuses a series that names what there is, before anything is applied.

    Raises:
        ConflictError: Entries conflict; the old lock stays.
        DriftError: ``check`` was asked and the lock is out of date, or there is none.
        MismatchError: The lock's inputs are unchanged but give another tree here, or a release
            that it names is another commit here.
    """
    with nullcontext() if check else editing(project):
        planned, old = read_pair(project, lane)
        if require:
            require(planned.series)
        return _build(project, places, planned, old, check=check)


def _build(
    project: Project, places: Places, planned: Plan, old: Lock | None, *, check: bool
) -> Built:
    lane = planned.lane
    settled = old is not None and not drift(planned, old)
    if old and settled and in_store(places, old):
        return Built(planned, old, applied=False, changed=False)
    # A build that finds nothing to do is half as long without it.
    from lanewright.queue.apply import apply_plan, told_conflicts  # noqa: PLC0415
    from lanewright.queue.same import require_same  # noqa: PLC0415

    if check and not settled:
        if any(given.select for given in planned.series.entry):
            apply_plan(project, places, planned)  # parts may lack what they use
        if old is None:
            raise no_lock(project, lane)
        raise DriftError(
            f"lane {lane}: the lock is out of date: {drift(planned, old)}",
            hint=f"lanewright build {lane}",
        )
    keep_going = settled and old is not None and is_open(old)
    applied = apply_plan(project, places, planned, keep_going=keep_going, remembers=not settled)
    if applied.conflicts and not keep_going:
        from lanewright.queue.move.stopped import resolve_command  # noqa: PLC0415 - it can ask the web

        if not check:
            keep_held(project, lane, [each.entry.name for each in applied.conflicts])
        raise ConflictError(
            told_conflicts(applied),
            hint=resolve_command(
                project, lane, applied.conflicts[0].entry.name, planned.series.pin
            ),
        )
    if old:
        _require_same_sources(old, applied.lock)
    if old and settled:
        require_same(old, applied.lock)
    commit_refs(places, applied.lock)
    if not settled:
        replace_together(project, files_of(project, applied), what=f"build {lane}")
        keep_held(project, lane, ())
    return Built(planned, applied.lock, applied=True, changed=not settled)


def in_store(places: Places, lock: Lock) -> bool:
    """Whether the store holds a lock's tree."""
    return places.objects.exists() and exists(Repository(places.objects), [lock.tree])


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


def commit_refs(places: Places, lock: Lock) -> None:
    """Name a lane's tree in the store, so that it stays; before any file says that it is there."""
    from lanewright.store.extract import pin_ref  # noqa: PLC0415 - as above

    with writing(places) as repository:
        parent = lock.pin.commit
        if lock.pin.source == "git":
            parent = CommitId(resolve(repository, pin_ref(parent)) or parent)
        tip = commit(repository, lock.tree, f"lane {lock.lane} on {lock.pin.ref}\n", [parent])
        set_ref(repository, f"refs/trees/{lock.tree}", tip)


def files_of(project: Project, applied: "Applied") -> dict[Path, bytes]:
    """The files that a lane's state is in: its lock, and the fixes that were merged again."""
    from lanewright.queue.fix.recipe_text import encode as encode_fix  # noqa: PLC0415 - as above

    fixes = {project.root / fix.file: encode_fix(fix.recipe) for fix in applied.again}
    return {project.lock_file(applied.lock.lane): encode(applied.lock), **fixes}
