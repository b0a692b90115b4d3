"""An archive's bytes, written as they are read: of equal members the same everywhere."""

import hashlib
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, cast

from lanewright.image.archive.members import ArchiveMember
from lanewright.image.tar import SECONDS

CHUNK = 1 << 20


class _Hashing(io.RawIOBase):
    """A file that is hashed while it is written."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream, self.digest = stream, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, content: "bytes | memoryview") -> int:  # type: ignore[override]
        self.digest.update(content)
        return self._stream.write(content)


def write_archive(members: Iterable[ArchiveMember], place: Path) -> str:
    """Write an archive; no more than a chunk of it is in memory.

    Args:
        members: In the order wanted.
        place: A new file.

    Returns:
        sha256 of the archive, in hex.

    Raises:
        OSError: A member cannot be read, or there is no room.
    """
    with place.open("xb") as stream:
        hashing = _Hashing(stream)
        with tarfile.open(
            fileobj=cast("IO[bytes]", hashing),
            mode="w|",
            format=tarfile.PAX_FORMAT,
            encoding="utf-8",
            bufsize=CHUNK,
        ) as archive:
            for member in members:
                info = tarfile.TarInfo(member.path)
                info.type, info.size, info.mtime = member.kind, member.size, SECONDS
                info.mode = 0o755 if info.isdir() else 0o644
                if isinstance(member.content, Path):
                    with member.content.open("rb") as source:
                        archive.addfile(info, source)
                else:
                    archive.addfile(info, io.BytesIO(member.content or b""))
    return hashing.digest.hexdigest()
