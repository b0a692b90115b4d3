"""A lane's image against its lock and its base: made again in mind, and compared byte by byte."""

import hashlib
from pathlib import Path

from lanewright.errors import LanewrightError, MismatchError
from lanewright.image.content import wrong_members
from lanewright.image.oci import blob_path
from lanewright.image.onto.composed import compose
from lanewright.image.onto.standing import base_of_image
from lanewright.image.opened.image import OpenImage, open_image
from lanewright.image.stamps import BASE_DIGEST
from lanewright.places import Places
from lanewright.queue.lock import Lock, layer_of
from lanewright.store.git import Repository
from lanewright.terminal import quoted


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
        LanewrightError: The base is not here.
    """
    found = differences(places, lock, made or folder, base)
    if found:
        told = "\n".join(f"  {each}" for each in found)
        again = [folder] if stays and not made else []
        base = base or _named_by(places, folder)
        # Its blobs are the base's own files: what is damaged in one is damaged in both.
        if base and any(each.blob.digest.removeprefix("sha256:") in told for each in base.layers):
            again += [base.folder, *_made(places, base)]
        raise MismatchError(
            f"lane {lock.lane}: {folder} is not the image of its lock:\n{told}",
            hint=f"it is made again: {_again(lock, again)}",
        )


def differences(
    places: Places, lock: Lock, folder: Path, base: OpenImage | None = None
) -> list[str]:
    """Where an image is not what its lock gives on its base; empty if it is.

    Raises:
        LanewrightError: The base that it names is not in the store.
    """
    try:
        image = open_image(folder, None)
    except LanewrightError as error:
        return [str(error)]
    base = base or base_of_image(places, image)
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


def _made(places: Places, base: OpenImage) -> list[Path]:
    """Where a base that was made here was kept first: the same files once more."""
    found = (each.parent for each in places.base_images.glob("made-*/index.json"))
    return [each for each in found if base.digest.encode() in (each / "index.json").read_bytes()]


def _again(lock: Lock, damaged: list[Path]) -> str:
    steps = [f"rm -r {' '.join(map(quoted, damaged))}"] if damaged else []
    steps += [f"lanewright image base {lock.lane}"] if any(map(_is_made, damaged)) else []
    return " && ".join([*steps, f"lanewright image {lock.lane}"])


def _is_made(folder: Path) -> bool:
    return folder.name.startswith("made-")


def _named_by(places: Places, folder: Path) -> OpenImage | None:
    try:
        return base_of_image(places, open_image(folder, None))
    except LanewrightError:
        return None


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
