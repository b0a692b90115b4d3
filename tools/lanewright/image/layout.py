"""A lane's layer in an OCI layout: a folder that buildah, podman and skopeo read as an image."""

import hashlib
from pathlib import Path

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.check import require_intact_layout
from lanewright.image.documents import documents
from lanewright.image.layer import layer_content
from lanewright.image.oci import blob_path, digest_of
from lanewright.places import Places
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.store.scratch import making, settle

# Of documents and their labels: what an earlier lanewright made of the same lock stands elsewhere.
FORM = 2


def layout_folder(places: Places, lock: Lock) -> Path:
    """Where the store has the layout of a lock, or will have it."""
    key = hashlib.sha256(f"{FORM} {lock.seal}".encode()).hexdigest()
    return places.layouts / f"{lock.lane}-{key[:16]}"


def lay_out(repository: Repository, lock: Lock, folder: Path) -> None:
    """Write a lock's layout; it appears whole or not at all.

    Args:
        repository: Holds the lock's tree.
        lock: With a layer.
        folder: Where; there is nothing there yet, or an empty folder.

    Raises:
        MismatchError: The tree gives another layer than the lock says.
        LanewrightError: The folder cannot be made or written.
    """
    layer = layer_of(lock)
    try:
        with making(folder.parent) as scratch:
            content = locked_layer(repository, lock)
            for path, raw in {**documents(lock), blob_path(layer.digest): content}.items():
                (scratch / path).parent.mkdir(parents=True, exist_ok=True)
                (scratch / path).write_bytes(raw)
            require_intact_layout(repository, lock, folder, made=scratch)
            settle(scratch, folder)
    except OSError as error:
        raise LanewrightError(f"cannot write the image {folder}: {error.strerror}") from error


def locked_layer(repository: Repository, lock: Lock) -> bytes:
    """The layer that a lock names, made of its trees.

    Raises:
        MismatchError: They give another than the lock says.
    """
    layer = layer_of(lock)
    version = layer.version or None
    content = layer_content(repository, lock.pin.tree, lock.tree, layer.site_packages, version)
    if digest_of(content) != layer.digest:
        raise MismatchError(
            f"lane {lock.lane}: the lock says layer {layer.digest}, but its tree gives"
            f" {digest_of(content)}",
            hint=f"lanewright verify --lock {lock.lane}",
        )
    return content
