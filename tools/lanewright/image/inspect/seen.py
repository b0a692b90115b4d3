"""An image as far as its documents go, wherever it lies; no layer of it is read."""

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.oci import ARCHITECTURES, digest_of
from lanewright.image.opened.image import Config, OpenImage, open_image


class SeenLayer(msgspec.Struct, frozen=True):
    """A layer, as documents tell it.

    Attributes:
        digest: Of the blob; of the uncompressed archive where no document has another.
        diff_id: Of the uncompressed archive.
        size: Bytes as it is stored.
    """

    digest: str
    diff_id: str
    size: int


@dataclass(frozen=True)
class Seen:
    """An image's documents.

    Attributes:
        place: Where it was found, for people.
        digest: Of its manifest; empty for an archive of Docker's own form, which has none.
        id: Digest of its configuration.
        platform: Such as ``linux/arm64``.
        created: As its configuration says; empty where it does not.
        labels: Of its configuration.
        layers: The lowest first.
    """

    place: str
    digest: str
    id: str
    platform: str
    created: str
    labels: dict[str, str]
    layers: tuple[SeenLayer, ...]

    @property
    def size(self) -> int:
        """Bytes of all layers, as they are stored."""
        return sum(layer.size for layer in self.layers)


def in_layout(folder: Path, place: str) -> Seen:
    """The image of a layout; of several, the one for this machine.

    Raises:
        LanewrightError: It has none, or it is damaged.
    """
    image = _opened(folder)
    layers = [(each.blob.digest, each.blob.size) for each in image.layers]
    return seen(place, image.config, image.config_blob.digest, layers, image.digest)


def _opened(folder: Path) -> OpenImage:
    try:
        return open_image(folder, ARCHITECTURES.get(platform.machine()))
    except LanewrightError:
        return open_image(folder, None)


def seen(
    place: str,
    config: bytes | dict[str, Any],
    config_digest: str,
    layers: list[tuple[str, int]],
    digest: str = "",
) -> Seen:
    """An image of its configuration and of what its manifest has.

    Args:
        place: Where it was found, for people.
        config: As JSON, or what that holds.
        config_digest: Its digest.
        layers: Digest and size of each, the lowest first; a digest may be empty.
        digest: Of the manifest, where there is one.

    Raises:
        LanewrightError: The configuration is none, or has another number of layers.
    """
    try:
        if isinstance(config, bytes):
            read = msgspec.json.decode(config, type=Config)
        else:
            read = msgspec.convert(config, Config)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"{place}: its configuration cannot be read: {error}") from error
    diff_ids = read.rootfs.diff_ids
    if len(diff_ids) != len(layers):
        raise LanewrightError(
            f"{place}: its configuration has {len(diff_ids)} layers, and its manifest {len(layers)}"
        )
    return Seen(
        place=place,
        digest=digest,
        id=config_digest,
        platform=f"{read.os}/{read.architecture}",
        created=read.created or "",
        labels=read.labels,
        layers=tuple(
            SeenLayer(name or diff_id, diff_id, size)
            for (name, size), diff_id in zip(layers, diff_ids, strict=True)
        ),
    )


def whole(place: str, content: bytes, digest: str) -> bytes:
    """A document, if it is what its name says.

    Raises:
        LanewrightError: It is another.
    """
    if digest_of(content) != digest:
        raise LanewrightError(f"{place}: {digest} is not what its name says: it is damaged")
    return content
