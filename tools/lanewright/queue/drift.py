"""What a series says that its lock does not."""

from collections.abc import Iterator
from typing import get_args

from msgspec.structs import replace

from lanewright.queue.inputs import OverlayInput, PullInput
from lanewright.queue.lock import Lock, LockedEntry
from lanewright.queue.plan import Plan, inputs_digest
from lanewright.queue.series_image import Architecture, ImageSpec


def drift(planned: Plan, lock: Lock | None) -> str:
    """What a series says that its lock does not, for people; empty when they agree."""
    if lock is None:
        return "there is no lock yet"
    changes = sorted(set(_of_fixes(planned, lock)))
    if lock.inputs == planned.digest:
        return "; ".join(changes)
    if (lock.pin.ref, lock.pin.version) != (planned.series.pin, planned.pin.release.version):
        changes.append(f"pin {lock.pin.ref} -> {planned.series.pin}")
    locked = {entry.name: entry.digest for entry in lock.entries}
    wanted = {given.name: given.digest for given in planned.inputs}
    changes += [f"{name} added" for name in sorted(wanted.keys() - locked.keys())]
    changes += [f"{name} dropped" for name in sorted(locked.keys() - wanted.keys())]
    changes += [
        f"{name} edited"
        for name in sorted(wanted.keys() & locked.keys())
        if wanted[name] != locked[name]
    ]
    claims = {entry.name: tuple(entry.claims) for entry in lock.entries}
    changes += [
        f"{given.name} claims other things"
        for given in planned.inputs
        if isinstance(given, PullInput) and claims.get(given.name, given.claims) != given.claims
    ]
    changes += _of_image(planned, lock)
    what = "order, selection or seams" if planned.series.seams else "order or selection"
    return "; ".join(changes) or f"{what} changed"


def _of_image(planned: Plan, lock: Lock) -> Iterator[str]:
    """What ``[image]`` says that the lock does not; of the architecture it tells by its digest."""
    image = planned.series.image or ImageSpec()
    laid = lock.layer.site_packages if lock.layer else ""
    if laid != image.site_packages:
        yield f"[image] site_packages {laid or 'none'} -> {image.site_packages or 'none'}"
    elif lock.layer and not lock.layer.version:
        yield "its layer is of the form of an earlier lanewright"
    base = lock.base or None
    if (base and base.digest) != image.digest:
        yield f"[image] base {base.digest if base else 'none'} -> {image.digest or 'none'}"
    elif base and base.name != image.base:
        yield f"[image] base {base.name} -> {image.base}"
    if base and image.digest and base.index != image.index:
        yield f"[image] index {base.index or 'none'} -> {image.index or 'none'}"
    for architecture in (None, *get_args(Architecture)):
        before = replace(
            image,
            site_packages=laid,
            base=base and base.name,
            digest=base and base.digest,
            index=base and base.index,
            architecture=architecture,
        )
        series = replace(planned.series, image=before)
        same = inputs_digest(series, planned.pin, planned.inputs) == lock.inputs
        if same and architecture != image.architecture:
            yield f"[image] architecture {architecture or 'none'} -> {image.architecture or 'none'}"


def _of_fixes(planned: Plan, lock: Lock) -> Iterator[str]:
    """Fixes that the lock was made with and that are others now, and new ones that it waits for.

    A fix of other sides, such as another lane's, changes nothing.
    """
    entries = {entry.name: entry for entry in lock.entries}
    for given in planned.inputs:
        entry = entries.get(given.name)
        if entry is None or isinstance(given, OverlayInput):
            continue
        here = {fix.file: fix.digest for fix in given.fixes}
        if any(here.get(fix.file) != fix.digest for fix in entry.fixes):
            yield f"a fix of {given.name} changed"
        known = {fix.file for fix in entry.fixes}
        new = {fix.recipe.path for fix in given.fixes if fix.file not in known}
        if new & _waiting(entry):
            yield f"a fix of {given.name} was added"


def _waiting(entry: LockedEntry) -> set[str]:
    """Files that need a person, in a lock that was written without the entry."""
    return {hunk.path for hunk in entry.hunks if hunk.open}
