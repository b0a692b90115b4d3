"""Archives of others, read so that none takes more memory than an image's names and attributes do."""

import tarfile
from collections.abc import Iterator
from typing import ClassVar

# What stands before a member and is read whole: attributes, and names too long for a header.
BEFORE = {
    tarfile.GNUTYPE_LONGLINK,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.XHDTYPE,
}
MOST_BYTES = 2**20
# Attributes of all, of one, and both its names; many in a row are made to be a burden.
MOST_IN_A_ROW = 16
# Of Linux, for a path; and of all members together, each with what Python has for one.
LONGEST, MOST_NAMES, OF_ONE = 4096, 2**29, 256
SPARSE = "it has a sparse file"


def bounded() -> type[tarfile.TarInfo]:
    """What ``tarfile.open`` takes as ``tarinfo``; a new one for each archive, for it counts.

    Reading raises ``tarfile.ReadError`` where more than ``MOST_BYTES`` of names and attributes
    stand before a member, or of attributes that are for all; where a size is negative; and at a
    sparse file, whose map has no bound, and which no layer has.
    """

    class Bounded(tarfile.TarInfo):
        before: ClassVar[int] = 0
        in_a_row: ClassVar[int] = 0
        for_all: ClassVar[int] = 0

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "Bounded":
            found = super().frombuf(buf, encoding, errors)
            if found.type == tarfile.GNUTYPE_SPARSE:
                raise tarfile.ReadError(SPARSE)
            if found.type in BEFORE:
                cls._take(found)
            else:
                cls.before = cls.in_a_row = 0
            return found

        @classmethod
        def _take(cls, header: tarfile.TarInfo) -> None:
            size = header.size
            cls.in_a_row += 1
            cls.before += size
            cls.for_all += size if header.type == tarfile.XGLTYPE else 0
            if max(cls.before, cls.for_all) > MOST_BYTES or cls.in_a_row > MOST_IN_A_ROW:
                raise tarfile.ReadError(
                    f"a header of {size} bytes is too much: names and attributes before a member"
                    f" have up to {MOST_BYTES} bytes in up to {MOST_IN_A_ROW} headers"
                )

        # Two steps of tarfile's own: sizes are among the attributes, too, and a map in a content.
        def _block(self, count: int) -> int:
            if count < 0:
                raise tarfile.ReadError(f"a member has {count} bytes")
            return -(-count // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE

        def _proc_gnusparse_10(self, *_: object) -> None:
            raise tarfile.ReadError(SPARSE)

    return Bounded


class Room:
    """What is left of the memory that names in an archive may take."""

    def __init__(self) -> None:
        self.left = MOST_NAMES

    def take(self, *names: str | bytes) -> None:
        """Count what is kept.

        Raises:
            tarfile.ReadError: It is more than any image has.
        """
        self.left -= sum(len(name) + OF_ONE for name in names if name)
        if self.left < 0:
            raise tarfile.ReadError("it has more names than any image has")


def members_of(archive: tarfile.TarFile, room: Room | None = None) -> Iterator[tarfile.TarInfo]:
    """Each member of an archive that was opened with ``bounded``; what was read of it is let go.

    Raises:
        tarfile.TarError: It is none, or takes too much memory.
    """
    room = room or Room()
    while (info := archive.next()) is not None:
        if info.issparse():
            raise tarfile.ReadError(SPARSE)
        longest = max(len(info.name), len(info.linkname))
        if longest > LONGEST:
            raise tarfile.ReadError(f"a name has {longest} characters, and a path up to {LONGEST}")
        room.take(info.name, info.linkname)
        info.pax_headers = {}
        yield info
        vars(archive)["members"].clear()
