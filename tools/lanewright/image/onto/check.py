"""A lane's image against its lock and its base: made again in mind, and compared byte by byte."""

import hashlib
from pathlib import Path

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.content import wrong_members
from lanewright.image.oci import blob_path
from lanewright.image.onto.again import Again
from lanewright.image.onto.composed import compose
from lanewright.image.onto.standing import base_of_image
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.opened.kept import kept_image
from lanewright.image.stamps import BASE_DIGEST
from lanewright.places import Places
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository


def require_intact_image(
    places: Places,
    lock: Lock,
    folder: Path,
    base: OpenImage | None = None,
    *,
    made: Path | None = None,
    stays: bool = True,
) -> None:
    """Compare a lane's image with its lock and its base.

    Args:
        places: The store, which has the base.
        lock: Of the lane.
        folder: The layout.
        base: What it stands on; by default what its labels name.
        made: Where it is before it is put into that folder.
        stays: Whether it is still there once it is refused.

    Raises:
        MismatchError: They differ; the message names each difference.
    """
    found = differences(places, lock, made or folder, base)
    if found:
        told = "\n".join(f"  {each}" for each in found)
        removed = [folder] if stays and not made else []
        raise MismatchError(
            f"lane {lock.lane}: {folder} is not the image of its lock:\n{told}",
            hint=f"it is made again: {_again(places, lock, made or folder, base, told, removed)}",
        )


def _again(
    places: Places, lock: Lock, folder: Path, base: OpenImage | None, told: str, removed: list[Path]
) -> str:
    if base is None:
        try:
            digest = open_image(folder, None).labels.get(BASE_DIGEST, "")
        except LanewrightError:
            return Again(places, lock, "").image(*removed)
        try:
            base = kept_image(places, digest)
        except LanewrightError:
            return Again(places, lock, digest).both(*removed)
        if base is None:
            return Again(places, lock, digest).image(*removed)
    again = Again.of(places, lock, base)
    # Its blobs are the base's own files: what is damaged in one is damaged in both.
    if any(each.blob.digest.removeprefix("sha256:") in told for each in base.layers):
        return again.both(*removed)
    return again.image(*removed)


def differences(
    places: Places, lock: Lock, folder: Path, base: OpenImage | None = None
) -> list[str]:
    """Where an image is not what its lock gives on its base; empty if it is."""
    try:
        image = open_image(folder, None)
    except LanewrightError as error:
        return [str(error)]
    try:
        base = base or base_of_image(places, image)
    except LanewrightError as error:
        return [f"its base is damaged: {error}"]
    if base is None:
        named = image.labels.get(BASE_DIGEST)
        return [f"its label {BASE_DIGEST} is {named or 'missing'}, and the store has no such base"]
    wanted = compose(lock, base)
    told = [
        f"its label {key} is {image.labels.get(key)!r}, not {value!r}"
        for key, value in wanted.labels.items()
        if image.labels.get(key) != value
    ]
    blobs = [*wanted.blobs, layer_of(lock).digest]
    sizes = {each.blob.digest: each.blob.size for each in base.layers}
    sizes[layer_of(lock).digest] = layer_of(lock).size
    told += [
        f"{path} is {what}"
        for path, content in wanted.documents.items()
        if (what := _other(folder / path, content))
    ]
    for digest in dict.fromkeys(blobs):
        told += _wrong_blob(folder / blob_path(digest), digest, sizes[digest])
    expected = {*wanted.documents, *map(blob_path, blobs)}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if _is_file(path)}
    told += [
        f"{path} is a stray file: no document leads to it" for path in sorted(there - expected)
    ]
    layer = folder / blob_path(layer_of(lock).digest)
    if not told:
        told += wrong_members(Repository(places.objects), lock, layer.read_bytes())
    return told


def _is_file(path: Path) -> bool:
    return path.is_symlink() or not path.is_dir()


def _other(file: Path, content: bytes) -> str:
    if file.is_symlink() or not file.is_file():
        return "missing, or no regular file"
    return "" if file.read_bytes() == content else "not what lock and base give"


def _wrong_blob(file: Path, digest: str, size: int) -> list[str]:
    if file.is_symlink() or not file.is_file():
        return [f"{blob_path(digest)} is missing, or no regular file"]
    if file.stat().st_size != size:
        return [f"{blob_path(digest)} has {file.stat().st_size} bytes, not {size}"]
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    return [] if f"sha256:{found}" == digest else [f"{blob_path(digest)} is not what its name says"]
