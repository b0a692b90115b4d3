"""An image in an OCI layout, for one platform, by whatever tool it was written."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.oci import Digest, Platform, blob_path, digest_of

INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
DEEPEST = 4
# Of a list, and of all lists in it: those that name each other make many of few.
MOST_NAMED = 1024
# A manifest or a configuration of more has been made to be a burden.
MOST_BYTES = 16 * 2**20
T = TypeVar("T")


class _Platform(msgspec.Struct, frozen=True):
    architecture: str = ""
    os: str = ""


class Named(msgspec.Struct, frozen=True, rename={"media_type": "mediaType"}):
    """What a document says of a blob; fields that are of no use here are passed over."""

    digest: Digest
    size: int
    media_type: str = ""
    platform: _Platform | None = None


class _Index(msgspec.Struct, frozen=True):
    manifests: list[Named]


class _Manifest(msgspec.Struct, frozen=True):
    config: Named
    layers: list[Named]


class Typed(msgspec.Struct, frozen=True, rename={"media_type": "mediaType"}):
    """What a document says that it is, and the images that it lists."""

    media_type: str = ""
    manifests: list[Named] = []


def typed(content: bytes, place: str) -> Typed:
    """Read what a document says that it is.

    Args:
        content: The document.
        place: Where it is from, for messages.

    Raises:
        LanewrightError: It is none of an image's.
    """
    try:
        return msgspec.json.decode(content, type=Typed)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"{place} is no document of an image: {error}") from error


class _Root(msgspec.Struct, frozen=True):
    diff_ids: list[Digest]


class _Run(msgspec.Struct, frozen=True):
    labels: dict[str, str] | None = msgspec.field(name="Labels", default=None)


class Config(msgspec.Struct, frozen=True):
    """What is read of a configuration; the rest is passed over.

    Attributes:
        architecture: As Go names it.
        os: The same.
        rootfs: Its layers, uncompressed, by digest.
        config: What a container is run with.
        created: As it says itself.
        history: Where its layers come from.
    """

    architecture: str
    os: str
    rootfs: _Root
    config: _Run | None = None
    created: str | None = None
    history: list[Any] | None = None

    @property
    def labels(self) -> dict[str, str]:
        """What the image says of itself."""
        return (self.config and self.config.labels) or {}


@dataclass(frozen=True)
class Layer:
    """One of an image's layers.

    Attributes:
        blob: What the manifest says of it.
        diff_id: Digest of the archive once it is uncompressed.
        file: Where it is.
    """

    blob: Named
    diff_id: str
    file: Path


@dataclass(frozen=True)
class OpenImage:
    """An image that can be read.

    Attributes:
        folder: The layout.
        digest: Of its manifest.
        index: Of the list that it was chosen from, where there is one.
        platform: What it runs on.
        config: Its whole configuration.
        layers: The lowest first.
        config_blob: What the manifest says of the configuration.
    """

    folder: Path
    digest: str
    index: str | None
    platform: Platform
    config: dict[str, Any]
    layers: tuple[Layer, ...]
    config_blob: Named

    @property
    def labels(self) -> dict[str, str]:
        """What it says of itself."""
        return msgspec.convert(self.config, Config).labels


def open_image(folder: Path, architecture: str | None, digest: str | None = None) -> OpenImage:
    """Open a layout's image for an architecture.

    Args:
        folder: The layout.
        architecture: As Go names it; None takes the only one that there is.
        digest: Of a manifest or of a list, where the layout has several.

    Raises:
        LanewrightError: It is no layout, a document of it is damaged or missing, or it has no such
            image, or several.
    """
    top = _decode(_read(folder / "index.json", folder), _Index, "index.json", folder)
    found = {
        each.digest: (each, path)
        for each, path in _manifests(folder, top, (), count())
        if digest is None or digest in (each.digest, *path)
    }
    images = [_opened(folder, each, path) for each, path in found.values()]
    fitting = [
        image
        for image in images
        if image.platform.os == "linux" and architecture in (None, image.platform.architecture)
    ]
    if len(fitting) != 1:
        there = ", ".join(sorted(f"{i.platform.os}/{i.platform.architecture}" for i in images))
        wanted = f"linux/{architecture}" if architecture else "one platform"
        which = f" of {digest}" if digest else ""
        raise LanewrightError(
            f"{folder} has {len(fitting) or 'no'} image{'s' * (len(fitting) > 1)}{which} for"
            f" {wanted}; it has {there or 'none at all'}",
            hint="hand over a layout or an archive with that one image",
        )
    return fitting[0]


def _manifests(
    folder: Path, index: _Index, path: tuple[str, ...], seen: Iterator[int]
) -> Iterator[tuple[Named, tuple[str, ...]]]:
    for each in {each.digest: each for each in index.manifests}.values():
        if next(seen) >= MOST_NAMED:
            raise LanewrightError(
                f"{folder} names more than {MOST_NAMED} images, as no layout does"
            )
        if each.media_type in INDEXES and len(path) < DEEPEST:
            inner = _decode(blob(folder, each), _Index, each.digest, folder)
            yield from _manifests(folder, inner, (*path, each.digest), seen)
        # A layout may name images of other platforms that it does not hold.
        elif each.media_type in MANIFESTS and (folder / blob_path(each.digest)).exists():
            yield each, path


def _opened(folder: Path, named: Named, path: tuple[str, ...]) -> OpenImage:
    manifest = _decode(blob(folder, named), _Manifest, named.digest, folder)
    raw = blob(folder, manifest.config)
    config = _decode(raw, Config, "its configuration", folder)
    if len(config.rootfs.diff_ids) != len(manifest.layers):
        raise LanewrightError(f"{folder}: {named.digest} and its configuration differ in layers")
    layers = tuple(
        Layer(each, diff_id, folder / blob_path(each.digest))
        for each, diff_id in zip(manifest.layers, config.rootfs.diff_ids, strict=True)
    )
    return OpenImage(
        folder=folder,
        digest=named.digest,
        index=path[-1] if path else None,
        platform=Platform(architecture=config.architecture, os=config.os),
        config=_decode(raw, dict[str, Any], "its configuration", folder),
        layers=layers,
        config_blob=manifest.config,
    )


def blob(folder: Path, named: Named) -> bytes:
    """A document of a layout, if it is what its name says.

    Raises:
        LanewrightError: It is missing, too large, or something else.
    """
    if named.size > MOST_BYTES:
        raise LanewrightError(
            f"{folder}: {named.digest} has {named.size} bytes, as no document has"
        )
    content = _read(folder / blob_path(named.digest), folder)
    if digest_of(content) != named.digest or len(content) != named.size:
        raise LanewrightError(f"{folder}: {named.digest} is not what its name says: it is damaged")
    return content


def _read(file: Path, folder: Path) -> bytes:
    try:
        # Neither a pipe nor a device, and no link that leads out of the layout.
        if file.is_symlink() or (file.exists() and not file.is_file()):
            raise LanewrightError(f"{file} is no regular file")
        if file.stat().st_size > MOST_BYTES:
            raise LanewrightError(f"{file} is larger than any document of an image")
        return file.read_bytes()
    except OSError as error:
        raise LanewrightError(
            f"{folder} is no OCI layout, or not whole: {file.relative_to(folder)}: {error.strerror}"
        ) from error


def _decode(content: bytes, kind: type[T], name: str, folder: Path) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"{folder}: {name} cannot be read: {error}") from error
