"""An image in an archive: its documents are read, and nothing is unpacked."""

import posixpath
import re
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from lanewright.errors import LanewrightError
from lanewright.image.inspect.seen import Seen, in_layout, seen, whole
from lanewright.image.oci import MEMBER, digest_of
from lanewright.image.opened.bounded import bounded, members_of
from lanewright.image.opened.image import MOST_BYTES

NAMED_BY_DIGEST = re.compile(r"(?:blobs/sha256/)?([0-9a-f]{64})(?:\.json)?")
# All documents of a layout together; those of a lane's image are a few dozen KiB.
MOST_DOCUMENTS = 4 * MOST_BYTES

SAVED = "name one that `lanewright image --archive DIR`, `podman save` or `docker save` wrote"


class _Image(msgspec.Struct, frozen=True, rename="pascal"):
    config: str
    layers: list[str]


def in_archive(archive: Path) -> Seen:
    """The image of an archive, of an OCI layout or of Docker's own form.

    Raises:
        LanewrightError: It is no archive of one image, or its documents are damaged.
    """
    try:
        with tarfile.open(archive, tarinfo=bounded()) as opened:
            members = {info.name.removeprefix("./"): info for info in members_of(opened)}
            if "index.json" in members and "oci-layout" in members:
                return _layout(archive, opened, members)
            if "manifest.json" in members:
                return _docker(archive, opened, members)
    except (OSError, EOFError, ValueError, tarfile.TarError) as error:
        raise LanewrightError(
            f"{archive} is no archive of an image: {error}", hint=SAVED
        ) from error
    raise LanewrightError(
        f"{archive} is no archive of an image: it has neither index.json nor manifest.json",
        hint=SAVED,
    )


def _layout(archive: Path, opened: tarfile.TarFile, members: dict[str, tarfile.TarInfo]) -> Seen:
    left = MOST_DOCUMENTS
    with TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "blobs/sha256").mkdir(parents=True)
        for name, info in members.items():
            if not MEMBER.fullmatch(name) or not info.isreg() or info.size > MOST_BYTES:
                continue
            stream = opened.extractfile(info)
            start = stream.read(1) if stream else b""
            # A layer begins with the name of a file in it; if one begins so, it does no harm.
            if stream and start == b"{":
                left -= info.size
                if left < 0:
                    raise LanewrightError(f"{archive} has more documents than any image has")
                (folder / name).write_bytes(start + stream.read())
        return in_layout(folder, str(archive))


def _docker(archive: Path, opened: tarfile.TarFile, members: dict[str, tarfile.TarInfo]) -> Seen:
    place = str(archive)
    raw = _read(place, opened, members, "manifest.json")
    try:
        images = msgspec.json.decode(raw, type=list[_Image])
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"{place}: manifest.json cannot be read: {error}") from error
    if len(images) != 1:
        raise LanewrightError(
            f"{place} has {len(images)} images, and one is looked at at a time",
            hint="save that one alone",
        )
    (image,) = images
    config = _read(place, opened, members, image.config)
    if match := NAMED_BY_DIGEST.fullmatch(image.config):
        whole(place, config, f"sha256:{match[1]}")
    layers = [("", _member(place, members, name).size) for name in image.layers]
    return seen(place, config, digest_of(config), layers)


def _member(place: str, members: dict[str, tarfile.TarInfo], name: str) -> tarfile.TarInfo:
    found = members.get(name)
    # docker save writes a layer that is there already as a link.
    if found and found.issym():
        found = members.get(posixpath.normpath(f"{posixpath.dirname(name)}/{found.linkname}"))
    if found is None or not found.isreg():
        raise LanewrightError(f"{place}: {name} is missing in it, or no file")
    return found


def _read(
    place: str, opened: tarfile.TarFile, members: dict[str, tarfile.TarInfo], name: str
) -> bytes:
    info = _member(place, members, name)
    if info.size > MOST_BYTES:
        raise LanewrightError(f"{place}: {name} is larger than any document of an image")
    stream = opened.extractfile(info)
    return stream.read() if stream else b""
