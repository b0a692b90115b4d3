"""A lane's image in the store: a layout that shares every blob of its base."""

from collections.abc import Callable
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.image.layout import layout_folder, locked_layer
from lanewright.image.oci import blob_path
from lanewright.image.onto.composed import Composed
from lanewright.image.opened.image import OpenImage
from lanewright.image.opened.kept import link
from lanewright.places import Places
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.store.scratch import making, settle

ON = "-on-"


def image_folder(places: Places, lock: Lock, base: OpenImage) -> Path:
    """Where the store has a lane's image on a base, or will have it."""
    short = base.digest.removeprefix("sha256:")[:16]
    return places.layouts / f"{layout_folder(places, lock).name}{ON}{short}"


def image_folders(places: Places, lock: Lock) -> list[Path]:
    """The images of a lock that are in the store, the one made last first."""
    name = f"{layout_folder(places, lock).name}{ON}*"
    return sorted(places.layouts.glob(name), key=lambda path: -path.lstat().st_mtime_ns)


def images_on(places: Places, base: OpenImage) -> list[Path]:
    """The images of any lane that stand on a base."""
    short = base.digest.removeprefix("sha256:")[:16]
    return list(places.layouts.glob(f"*{ON}{short}"))


def lay_image(
    repository: Repository,
    lock: Lock,
    base: OpenImage,
    composed: Composed,
    folder: Path,
    check: Callable[[Path], None] = lambda _: None,
) -> None:
    """Write a lane's image on a base; it appears whole or not at all.

    Args:
        repository: Holds the lock's tree.
        lock: With a layer.
        base: A layout of the store.
        composed: The image's documents.
        folder: Where; there is nothing there yet, or an empty folder.
        check: Looks at it before it is in its place, and raises where it is to be in none.

    Raises:
        MismatchError: The tree gives another layer than the lock says.
        LanewrightError: The folder cannot be made or written.
    """
    content = locked_layer(repository, lock)
    try:
        with making(folder.parent) as scratch:
            own = {**composed.documents, blob_path(layer_of(lock).digest): content}
            for path, raw in own.items():
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                (scratch / path).write_bytes(raw)
            for digest in dict.fromkeys(composed.blobs):
                link(base.folder / blob_path(digest), scratch / blob_path(digest))
            check(scratch)
            settle(scratch, folder)
    except OSError as error:
        raise LanewrightError(f"cannot write the image {folder}: {error.strerror}") from error
