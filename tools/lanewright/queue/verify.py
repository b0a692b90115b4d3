"""Prove that a lane's lock and its laid-out tree are what they claim to be."""

from dataclasses import dataclass

from lanewright.errors import LanewrightError, MismatchError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import apply_plan, require_same
from lanewright.queue.lock import Lock, read_lock
from lanewright.queue.plan import drift, plan
from lanewright.queue.site import differences, site_folder
from lanewright.store.companions import companions
from lanewright.store.objects import TreeId


@dataclass(frozen=True)
class Verified:
    """Which proofs were made; one that had nothing to look at is not among them."""

    lock: Lock
    checks: tuple[str, ...]


def verify(project: Project, places: Places, lane: str, *, lock: bool, tree: bool) -> Verified:
    """Check a lane's lock, its tree on disk, or (with neither asked for) all that exist.

    Args:
        project: The user's project.
        places: Store and state.
        lane: The lane's name.
        lock: Apply the series again from its sources and compare all that the lock says.
        tree: Compare every file on disk with the tree.

    Raises:
        MismatchError: Something differs; the message names the entry or the files.
        LanewrightError: There is no lock, or no tree on disk though one was asked for.
    """
    planned = plan(project, lane)
    held = read_lock(project.lock_file(lane))
    if held is None:
        raise LanewrightError(f"lane {lane} has no lock yet", hint=f"lanewright build {lane}")
    everything = not (lock or tree)
    checks = []
    if lock or everything:
        if held.inputs != planned.digest:
            raise MismatchError(
                f"lane {lane}: the lock is out of date: {drift(planned, held)}",
                hint=f"lanewright build {lane}",
            )
        require_same(held, apply_plan(project, places, planned).lock)
        checks.append("lock")
    laid = site_folder(places, held.pin, held.tree)
    if tree and not laid.exists():
        raise LanewrightError(
            f"lane {lane}: its tree is not laid out on this machine",
            hint=f"lanewright boot {lane}",
        )
    if tree or (everything and laid.exists()):
        require_intact(places, held, held.tree)
        checks.append("tree")
    return Verified(held, tuple(checks))


def require_intact(places: Places, lock: Lock, tree: TreeId) -> None:
    """Compare a tree on disk, the lane's or its pin's, with the tree in the store.

    Raises:
        MismatchError: They differ; the message names every file.
    """
    found = differences(places, lock.pin, tree)
    if found:
        site = site_folder(places, lock.pin, tree)
        told = "\n".join(f"  {each.path} {each.what}" for each in found)
        raise MismatchError(
            f"lane {lock.lane}: {site} is not tree {tree}:\n{told}",
            hint="keep your edit elsewhere if you need it, then remove what was changed; both are"
            f" made again: rm -r {site} {companions(places, lock.pin.release)}",
        )
