"""Base images in the store, each a layout of one image, by the digest of its manifest."""

import hashlib
import os
import re
import shutil
from pathlib import Path

import msgspec

from lanewright.errors import DamagedError, LanewrightError
from lanewright.image.documents import MARKER
from lanewright.image.oci import Platform, blob_path
from lanewright.image.opened.image import INDEXES, MANIFESTS, OpenImage, open_image, typed
from lanewright.places import Places
from lanewright.store.scratch import discard, making, settle
from lanewright.terminal import say

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def kept_folder(places: Places, digest: str) -> Path:
    """Where the store has the image of a manifest, or will have it."""
    return places.base_images / digest.replace(":", "-")


def kept_image(places: Places, digest: str) -> OpenImage | None:
    """The store's image of a manifest; None where it has none.

    Raises:
        LanewrightError: It is damaged.
    """
    # Who asks may have it from a label.
    if not DIGEST.fullmatch(digest):
        return None
    folder = kept_folder(places, digest)
    return open_image(folder, None, digest) if folder.exists() else None


def keep(places: Places, image: OpenImage, *, anew: bool = False) -> OpenImage:
    """Put an image into the store, with the list that it was chosen from; whole or not at all.

    Its blobs are linked where that is possible, and copied elsewhere. What is there already stays,
    unless it cannot be opened or lacks something of a layer.

    Args:
        places: The store.
        image: In any layout.
        anew: Whether it takes the place of what is there, whatever that is.

    Raises:
        DamagedError: A blob is missing, or another than it is told to be.
        LanewrightError: There is no room.
    """
    folder = kept_folder(places, image.digest)
    if folder.exists() and not anew:
        try:
            there = open_image(folder, None, image.digest)
            for layer in there.layers:
                _require_size(layer.file, layer.blob.size)
        except LanewrightError as error:
            say(f"kept anew, for what is there is damaged: {error}")
        else:
            return there
    try:
        with making(places.base_images) as scratch:
            require_whole(image)
            for digest in _names(image):
                link(image.folder / blob_path(digest), scratch / blob_path(digest))
            (scratch / "oci-layout").write_bytes(MARKER)
            (scratch / "index.json").write_bytes(msgspec.json.encode(_index(image)))
            # Only now that there is another.
            discard(folder)
            settle(scratch, folder)
    except OSError as error:
        raise LanewrightError(f"cannot keep the image {image.folder}: {error}") from error
    return open_image(folder, None, image.digest)


def _names(image: OpenImage) -> list[str]:
    names = [image.digest, image.config_blob.digest, *(x.blob.digest for x in image.layers)]
    return list(dict.fromkeys([*names, *([image.index] if image.index else [])]))


def require_whole(image: OpenImage) -> None:
    """Read every blob of an image.

    Raises:
        DamagedError: One is missing, or has another digest or size than it is told to have.
        OSError: One cannot be read.
    """
    for layer in image.layers:
        _require_size(layer.file, layer.blob.size)
    for digest in _names(image):
        require_named(image.folder / blob_path(digest), digest)


def require_named(file: Path, digest: str) -> None:
    """Read a blob.

    Raises:
        DamagedError: It is missing, or has another digest.
        OSError: It cannot be read.
    """
    _require_file(file)
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if f"sha256:{found}" != digest:
        raise DamagedError(
            f"{file} is not what its name says: it is damaged", hint="make the image again"
        )


def _require_file(file: Path) -> None:
    if file.is_symlink() or not file.is_file():
        raise DamagedError(f"{file} is missing, or no regular file")


def _require_size(file: Path, size: int) -> None:
    _require_file(file)
    if file.stat().st_size != size:
        raise DamagedError(f"{file} has {file.stat().st_size} bytes, and is told to have {size}")


def _index(image: OpenImage) -> dict[str, object]:
    """Names the list where there is one, so that a reader finds it, too, and the image in it."""
    digest = image.index or image.digest
    content = (image.folder / blob_path(digest)).read_bytes()
    kind = typed(content, f"{image.folder}: {digest}").media_type
    named: dict[str, object] = {
        "mediaType": kind or (INDEXES[0] if image.index else MANIFESTS[0]),
        "digest": digest,
        "size": len(content),
    }
    if not image.index:
        named["platform"] = msgspec.to_builtins(
            Platform(architecture=image.platform.architecture, os=image.platform.os)
        )
    return {"schemaVersion": 2, "manifests": [named]}


def link(source: Path, place: Path) -> None:
    """Have a file in another place as well, as one file where the filesystem allows it.

    Raises:
        OSError: It cannot be read or written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, place)
    except OSError:
        shutil.copyfile(source, place)
