"""What is in the layers of an image, without unpacking them."""

import hashlib
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import msgspec
import zstandard

from lanewright.errors import LanewrightError
from lanewright.image.opened.bounded import Room, bounded, members_of
from lanewright.image.opened.image import Layer, OpenImage
from lanewright.image.opened.kept import require_named
from lanewright.image.opened.uncompressed import CHUNK, uncompressed
from lanewright.places import Places
from lanewright.store.atomic import replace_file
from lanewright.terminal import say, stage

HIDES, HIDES_ALL = ".wh.", ".wh..wh..opq"
# Of files up to this size the git blob id is wanted, to hold against a pin's: compiled ones may be large.
MOST_COMPARED = 8 * 2**20
# Of these the text: what vLLM calls itself, and what Debian's packages are.
READ = re.compile(r".*/vllm/_version\.py|var/lib/dpkg/status(\.d/.*)?|(usr/lib|etc)/os-release")
# Of a path that one layer has in two ways; each reader takes its own.
UNCLEAR = "path told twice"
FORM = 4
UNREADABLE = (OSError, EOFError, ValueError)


class Found(msgspec.Struct, frozen=True, array_like=True):
    """One path of a layer.

    Attributes:
        kind: ``file``, ``folder``, ``link``, ``other``, or that its layer has it in two ways.
        mode: Permission bits.
        id: A file's git blob id, unless it is large; a link's target; else empty.
        text: A file's content, where it is one to read.
    """

    kind: str
    mode: int
    id: str = ""
    text: bytes = b""


FOLDER = Found("folder", 0o755)


class _Contents(msgspec.Struct, frozen=True):
    form: int
    diff_id: str
    paths: dict[str, Found]


def contents_of(places: Places, image: OpenImage, *, fresh: bool = False) -> dict[str, Found]:
    """Every path of an image, as a container of it would see them.

    Each layer is read once; what was in it is kept in the store by its digest.

    Args:
        places: The store.
        image: In a layout.
        fresh: Whether to read every layer again, whatever was kept.

    Raises:
        DamagedError: A layer is missing, or not what it is told to be.
        LanewrightError: A layer is of an unknown form.
    """
    paths: dict[str, Found] = {}
    for number, layer in enumerate(image.layers, 1):
        place = (
            places.base_images / "contents" / f"{layer.blob.digest.removeprefix('sha256:')}.json"
        )
        kept = None if fresh else _kept(place, layer)
        if kept is None:
            size = layer.blob.size / 2**20
            say(f"  reading layer {number} of {len(image.layers)}, {size:.1f} MiB")
            with stage(f"layer {number} of {len(image.layers)}"):
                kept = _read_layer(layer)
            # A store that cannot be written is read all the same; the next run reads the layer again.
            with suppress(OSError):
                place.parent.mkdir(parents=True, exist_ok=True)
                replace_file(place, msgspec.json.encode(_Contents(FORM, layer.diff_id, kept)))
        paths = laid_over(paths, kept)
    return paths


def _kept(place: Path, layer: Layer) -> dict[str, Found] | None:
    try:
        kept = msgspec.json.decode(place.read_bytes(), type=_Contents)
    except (OSError, msgspec.DecodeError, ValueError):
        return None
    return kept.paths if (kept.form, kept.diff_id) == (FORM, layer.diff_id) else None


def laid_over(lower: dict[str, Found], upper: dict[str, Found]) -> dict[str, Found]:
    """What is seen of two layers, one over the other."""
    gone, emptied = set[str](), set[str]()
    for path, found in upper.items():
        folder, slash, name = path.rpartition("/")
        if name == HIDES_ALL:
            emptied.add(folder)
        elif name.startswith(HIDES):
            gone.add(f"{folder}{slash}{name.removeprefix(HIDES)}")
        elif found.kind != "folder":
            emptied.add(path)
    # A folder may have no entry of its own.
    lower = {path: each for path, each in lower.items() if not _hidden(path, gone, emptied)}
    seen = {
        path: found
        for path, found in upper.items()
        if not path.rpartition("/")[2].startswith(HIDES)
    }
    return {**lower, **seen}


def _hidden(path: str, gone: set[str], emptied: set[str]) -> bool:
    if path in gone or "" in emptied:
        return True
    return any(each in gone or each in emptied for each in _above(path))


def _read_layer(layer: Layer) -> dict[str, Found]:
    paths: dict[str, Found] = {}
    folders: set[str] = set()
    room = Room()
    try:
        with uncompressed(layer) as (stream, digest):
            with tarfile.open(
                fileobj=cast("IO[bytes]", stream),
                mode="r|",
                encoding="utf-8",
                errors="surrogateescape",
                tarinfo=bounded(),
            ) as archive:
                for info in members_of(archive, room):
                    path = _plain(info.name, layer)
                    if path:
                        found = _found(archive, info, path, paths, layer)
                        above = [each for each in _above(path) if each not in folders]
                        room.take(found.text, *above)
                        _take(paths, folders, path, found)
            while stream.read(CHUNK):
                pass
            if digest.hexdigest() != layer.diff_id.removeprefix("sha256:"):
                raise LanewrightError(
                    f"{layer.file} unpacked is not {layer.diff_id}: it is damaged"
                )
    except (*UNREADABLE, tarfile.TarError, zlib.error, zstandard.ZstdError) as error:
        # Of others as it is, or damaged since.
        with suppress(OSError):
            require_named(layer.file, layer.blob.digest)
        raise LanewrightError(
            f"layer {layer.blob.digest} cannot be read: {error}",
            hint="make the image, or its mirror, again",
        ) from error
    return paths


def _take(paths: dict[str, Found], folders: set[str], path: str, found: Found) -> None:
    """Have a member in its place; what readers take one way or the other is told as that.

    Args:
        paths: The layer so far.
        folders: Every folder that something of it is in.
        path: The member's.
        found: It.
    """
    folder, slash, name = path.rpartition("/")
    hides = name.startswith(HIDES) and name != HIDES_ALL
    other = f"{folder}{slash}{name.removeprefix(HIDES) if hides else HIDES + name}"
    above = list(_above(path))
    in_the_way = any(paths.get(each, FOLDER).kind != "folder" for each in above)
    if in_the_way or (found.kind != "folder" and path in folders):
        found = Found(UNCLEAR, found.mode)
    if other in paths:
        found = Found(UNCLEAR, found.mode)
        path = other if hides else path
    folders.update(above)
    paths[path] = found


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _found(
    archive: tarfile.TarFile,
    info: tarfile.TarInfo,
    path: str,
    before: dict[str, Found],
    layer: Layer,
) -> Found:
    # Some tools write the kind of file into it, too.
    mode = info.mode & 0o7777
    if info.isdir():
        return Found("folder", mode)
    if info.issym():
        return Found("link", mode, _text(info.linkname))
    if info.islnk():
        return before.get(_plain(info.linkname, layer), Found("other", mode))
    if not info.isreg():
        return Found("other", mode)
    if info.size > MOST_COMPARED:
        return Found("file", mode)
    read = READ.fullmatch(path)
    # git's own name of a file's content.
    blob = hashlib.sha1(b"blob %d\0" % info.size, usedforsecurity=False)
    text = b""
    stream = archive.extractfile(info)
    while stream and (chunk := stream.read(CHUNK)):
        blob.update(chunk)
        if read:
            text += chunk
    return Found("file", mode, blob.hexdigest(), text)


def _plain(name: str, layer: Layer) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise LanewrightError(f"layer {layer.blob.digest}: {name!r} leads out of the image")
    return _text("/".join(parts))


def _text(name: str) -> str:
    """A name as JSON can have it: bytes that are no UTF-8 are told by their numbers."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
