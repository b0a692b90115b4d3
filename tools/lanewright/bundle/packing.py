"""A bundle's archive: of equal files the same bytes."""

import gzip
import os
import tarfile
import zlib
from pathlib import Path

from lanewright.bundle.making import README, TITLE, Made
from lanewright.errors import LanewrightError
from lanewright.image.tar import Member, pack
from lanewright.store.atomic import replace_file

LEVEL = 6


def packed(made: Made) -> bytes:
    """The archive: owner, time and order are of no machine."""
    members = [
        Member(f"{made.name}/{part.name}", tarfile.REGTYPE, 0o644, part.content)
        for part in made.parts
    ]
    return gzip.compress(pack(members), LEVEL, mtime=0)


def write(file: Path, content: bytes) -> None:
    """Write an archive whole, or not at all; it takes the place of an earlier bundle alone.

    Raises:
        LanewrightError: Something else is there.
        OSError: It cannot be written.
    """
    require_ours(file)
    replace_file(file, content)


def require_ours(file: Path) -> None:
    """See that a place is free, or holds a bundle.

    Raises:
        LanewrightError: It is not.
    """
    if os.path.lexists(file) and not _is_bundle(file):
        raise LanewrightError(
            f"{file} is there already, and is no bundle of lanewright's",
            hint="name another one: lanewright bundle RUN --out FILE",
        )


def _is_bundle(file: Path) -> bool:
    if file.is_symlink() or not file.is_file():
        return False
    try:
        # As much of it as its first file's name and line take.
        with file.open("rb") as stream:
            head = zlib.decompressobj(wbits=31).decompress(stream.read(2**16), 2**16)
        name, content = head[:100].rstrip(b"\0"), head[tarfile.BLOCKSIZE :]
    except (OSError, zlib.error):
        return False
    return name.endswith(f"/{README}".encode()) and content.startswith(TITLE.encode())
