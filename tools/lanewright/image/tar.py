"""A layer's bytes: of equal members the same, on every machine and under every Python."""

import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass

from lanewright.store.git import FIXED_DATE

# Also unlike the time of any file of a base, so that its bytecode of a file that the layer replaces
# is seen to be stale.
SECONDS = int(FIXED_DATE.split()[0])


@dataclass(frozen=True)
class Member:
    """One entry of a layer.

    Attributes:
        path: Relative to the image's root, ``/`` between its parts; bytes that are no UTF-8 are
            surrogates.
        kind: ``tarfile.REGTYPE``, ``DIRTYPE`` or ``SYMTYPE``.
        mode: Permission bits.
        content: A file's content, or a symlink's target.
    """

    path: str
    kind: bytes
    mode: int
    content: bytes = b""


def pack(members: Iterable[Member]) -> bytes:
    """An uncompressed archive of the members in the order given.

    Owner, group and time are fixed and everything that a machine could add is left out. Paths of
    any length and in any encoding go into PAX headers, whose form does not depend on the locale.
    """
    buffer = io.BytesIO()
    with tarfile.open(
        fileobj=buffer,
        mode="w",
        format=tarfile.PAX_FORMAT,
        encoding="utf-8",
        errors="surrogateescape",
    ) as archive:
        for member in members:
            info = tarfile.TarInfo(member.path)
            info.type, info.mode, info.mtime = member.kind, member.mode, SECONDS
            if member.kind == tarfile.SYMTYPE:
                info.linkname = member.content.decode("utf-8", "surrogateescape")
            else:
                info.size = len(member.content)
            archive.addfile(info, io.BytesIO(member.content))
    return buffer.getvalue()


def unpack(content: bytes) -> list[tuple[tarfile.TarInfo, Member]]:
    """Every member of an archive, with all that its header says.

    Raises:
        tarfile.TarError: It is no archive, or it is cut short.
    """
    found = []
    with tarfile.open(
        fileobj=io.BytesIO(content), mode="r:", encoding="utf-8", errors="surrogateescape"
    ) as archive:
        for info in archive:
            stream = archive.extractfile(info) if info.isreg() else None
            raw = stream.read() if stream else info.linkname.encode("utf-8", "surrogateescape")
            found.append((info, Member(info.name, info.type, info.mode, raw)))
    return found
