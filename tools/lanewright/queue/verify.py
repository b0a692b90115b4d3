"""Prove that a lane's lock, its laid-out tree and its image are what they claim to be."""

from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.check import require_intact_layout
from lanewright.image.layout import layout_folder
from lanewright.image.onto.check import require_intact_image
from lanewright.image.onto.layout import image_folders
from lanewright.image.onto.refusing import require_pinned
from lanewright.image.onto.standing import base_of_image
from lanewright.image.opened.image import open_image
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.build import in_store
from lanewright.queue.bundle import store_of
from lanewright.queue.drift import drift
from lanewright.queue.edit.unpinned import no_lock
from lanewright.queue.lock import Lock, is_open, layer_of
from lanewright.queue.pair import read_pair
from lanewright.queue.same import require_same
from lanewright.queue.site import differences, site_folder
from lanewright.store.companions import companions
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId
from lanewright.terminal import quoted


@dataclass(frozen=True)
class Verified:
    """Which proofs were made; one that had nothing to look at is not among them.

    Attributes:
        lock: Of the lane.
        checks: ``lock``, ``bundle``, ``tree``; ``image``, or ``layer`` where that is on no base here.
    """

    lock: Lock
    checks: tuple[str, ...]


def verify(
    project: Project,
    places: Places,
    lane: str,
    *,
    lock: bool,
    tree: bool,
    image: bool,
    bundle: Path | None = None,
) -> Verified:
    """Check a lane's lock, its tree on disk, its image, or (with none asked for) all that exist.

    Args:
        project: The user's project.
        places: Store and state.
        lane: The lane's name.
        lock: Apply the series again from its sources and compare all that the lock says.
        tree: Compare every file on disk with the tree.
        image: Compare every blob of the store's layouts with the lock and the base, and every
            member of the lane's layer with the tree.
        bundle: Apply the series from this file alone and compare all that the lock says.

    Raises:
        MismatchError: Something differs; the message names the entry or the files.
        LanewrightError: There is no lock, or no tree or image here though one was asked for.
    """
    planned, held = read_pair(project, lane)
    if held is None:
        raise no_lock(project, lane)
    everything = not (lock or tree or image or bundle)
    checks = []
    if (lock or bundle or everything) and drift(planned, held):
        raise MismatchError(
            f"lane {lane}: the lock is out of date: {drift(planned, held)}",
            hint=f"lanewright build {lane}",
        )
    if lock or everything:
        applied = apply_plan(project, places, planned, keep_going=is_open(held))
        require_same(held, applied.lock)
        checks.append("lock")
    if bundle:
        with store_of(project, places, planned, bundle) as alone:
            applied = apply_plan(project, alone, planned, keep_going=is_open(held))
        require_same(held, applied.lock)
        checks.append("bundle")
    laid = site_folder(places, held.pin, held.tree)
    if tree and not laid.exists():
        raise LanewrightError(
            f"lane {lane}: its tree is not laid out on this machine",
            hint=f"lanewright boot {lane}",
        )
    if tree or (everything and laid.exists()):
        require_intact(places, held, held.tree)
        checks.append("tree")
    if image or (everything and held.layer is not UNSET and _layouts(places, held)):
        _require_image(places, held)
        checks.append("image" if image_folders(places, held) else "layer")
    return Verified(held, tuple(checks))


def _require_image(places: Places, lock: Lock) -> None:
    layer_of(lock)
    if not _layouts(places, lock):
        raise LanewrightError(
            f"lane {lock.lane}: there is no image of its lock on this machine",
            hint=f"lanewright image {lock.lane}",
        )
    if not in_store(places, lock):
        raise LanewrightError(
            f"lane {lock.lane}: the store lacks its tree, to compare the image with",
            hint=f"lanewright build {lock.lane}",
        )
    folder = layout_folder(places, lock)
    if folder.exists():
        require_intact_layout(Repository(places.objects), lock, folder)
    for image in image_folders(places, lock):
        require_intact_image(places, lock, image)
        if base := base_of_image(places, open_image(image, None)):
            require_pinned(places, lock, image, base, fresh=True)


def _layouts(places: Places, lock: Lock) -> list[Path]:
    layer = layout_folder(places, lock)
    return [*([layer] if layer.exists() else []), *image_folders(places, lock)]


def require_intact(places: Places, lock: Lock, tree: TreeId) -> None:
    """Compare a tree on disk, the lane's or its pin's, with the tree in the store.

    Raises:
        MismatchError: They differ; the message names every file.
    """
    found = differences(places, lock.pin, tree)
    if found:
        site = site_folder(places, lock.pin, tree)
        told = "\n".join(f"  {each.path} {each.what}" for each in found)
        beside = companions(places, lock.pin.release)
        apart = {beside if Path(each.path).is_relative_to(beside) else site for each in found}
        raise MismatchError(
            f"lane {lock.lane}: {site} is not tree {tree}:\n{told}",
            hint="keep your edit elsewhere if you need it, then remove what was changed while no"
            f" lane runs from it; it is made again: rm -r {' '.join(map(quoted, sorted(apart)))}",
        )
