"""A layer's archive, uncompressed and hashed as it is read."""

import gzip
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

import zstandard

from lanewright.errors import DamagedError
from lanewright.image.opened.image import Layer

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
CHUNK = 1 << 20


class Hashing:
    """A stream that is hashed while it is read."""

    def __init__(self, stream: IO[bytes], digest: "hashlib._Hash") -> None:
        self._stream, self._digest = stream, digest

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        content = self._stream.read(size)
        self._digest.update(content)
        return content


@contextmanager
def uncompressed(layer: Layer) -> Iterator[tuple[Hashing, "hashlib._Hash"]]:
    """The archive of a layer while the block runs, and the digest of what was read of it.

    Raises:
        DamagedError: The block has ended, and the layer is not what its name says.
    """
    unpacked = hashlib.sha256()
    with layer.file.open("rb") as raw:
        start = raw.read(4)
        raw.seek(0)
        packed = hashlib.sha256()
        source = cast("IO[bytes]", Hashing(raw, packed))
        stream: IO[bytes] = source
        if start.startswith(GZIP):
            stream = cast("IO[bytes]", gzip.GzipFile(fileobj=source))
        elif start == ZSTD:
            stream = zstandard.ZstdDecompressor().stream_reader(source, read_across_frames=True)
        yield Hashing(stream, unpacked), unpacked
        while source.read(CHUNK):
            pass
    if packed.hexdigest() != layer.blob.digest.removeprefix("sha256:"):
        raise DamagedError(
            f"{layer.file} is not what its name says: it is damaged",
            hint="make the image, or its mirror, again",
        )
