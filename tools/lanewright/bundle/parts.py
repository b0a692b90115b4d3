"""Files of a folder, read with no trust: no link is followed, and none is larger than is said here."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lanewright.terminal import printable

# Bytes: of a log, whose middle is cut out; of a file that would be worth nothing without it; of all.
MOST_TEXT, MOST_DATA, MOST = 2**22, 2**24, 2**28
MOST_FILES, DEEPEST = 2000, 4
TEXTS = frozenset({".log", ".md", ".out", ".txt"})
DATA = frozenset({".json", ".lock", ".parquet"})
# What a run or a night calls its files; another name is shown, and taken by nobody for a path.
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class LeftOut(msgspec.Struct, frozen=True):
    """A file, or a folder, that is not in the bundle, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Part:
    """A file.

    Attributes:
        name: With ``/`` between its parts.
        content: What is in it.
        cut: How many bytes of its middle were left out.
    """

    name: str
    content: bytes
    cut: int = 0


class Budget:
    """How much may still be read for one bundle.

    Attributes:
        bytes: In all.
        files: How many.
    """

    def __init__(self) -> None:
        self.bytes, self.files = MOST, MOST_FILES

    def takes(self, size: int) -> bool:
        """Whether a file of so many bytes still has room; it is then counted."""
        if size > self.bytes or self.files == 0:
            return False
        self.bytes -= size
        self.files -= 1
        return True


def parts_of(folder: Path, below: str, budget: Budget) -> Iterator[Part | LeftOut]:
    """Yield the files of a folder, by name, and what of it is left out.

    Args:
        folder: It; no link.
        below: Its name in the bundle.
        budget: Of the bundle.
    """
    try:
        descriptor = os.open(folder, DIRECTORY)
    except OSError as error:
        yield LeftOut(below, f"it cannot be read: {error.strerror}")
        return
    try:
        yield from _of(descriptor, below, budget, DEEPEST)
    finally:
        os.close(descriptor)


def _of(folder: int, below: str, budget: Budget, depth: int) -> Iterator[Part | LeftOut]:
    for name in sorted(os.listdir(folder)):
        place = f"{below}/{name}"
        if not PLAIN.fullmatch(name):
            yield LeftOut(printable(place), "no run and no night calls a file so")
            continue
        try:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield from _folder(folder, name, below, budget, depth)
            elif stat.S_ISREG(mode):
                yield _file(folder, name, below, budget)
            else:
                what = "a link" if stat.S_ISLNK(mode) else "no regular file"
                yield LeftOut(place, f"it is {what}")
        except OSError as error:
            # It may be under way, and a file gone by now.
            yield LeftOut(place, f"it cannot be read: {error.strerror}")


def _folder(
    parent: int, name: str, below: str, budget: Budget, depth: int
) -> Iterator[Part | LeftOut]:
    place = f"{below}/{name}"
    if depth == 0:
        yield LeftOut(place, "it lies too deep")
        return
    descriptor = os.open(name, DIRECTORY, dir_fd=parent)
    try:
        yield from _of(descriptor, place, budget, depth - 1)
    finally:
        os.close(descriptor)


def _file(folder: int, name: str, below: str, budget: Budget) -> Part | LeftOut:
    place, kind = f"{below}/{name}", Path(name).suffix
    if kind not in TEXTS | DATA:
        return LeftOut(place, "it is none of a run's or a night's files")
    with os.fdopen(os.open(name, FILE, dir_fd=folder), "rb") as stream:
        seen = os.fstat(stream.fileno())
        # Another file may be there by now.
        if not stat.S_ISREG(seen.st_mode):
            return LeftOut(place, "it is no regular file")
        most = MOST_TEXT if kind in TEXTS else MOST_DATA
        if kind in DATA and seen.st_size > most:
            return LeftOut(place, f"it has {seen.st_size} bytes, and {most} are the most")
        if not budget.takes(min(seen.st_size, most)):
            return LeftOut(place, f"the bundle has {MOST} bytes, or {MOST_FILES} files, already")
        if seen.st_size > most:
            return _cut(place, stream.fileno(), seen.st_size, most // 2)
        # What is written meanwhile is of no use in part.
        return Part(place, stream.read(seen.st_size))


def _cut(place: str, descriptor: int, size: int, half: int) -> Part:
    """A long text without its middle, in whole lines where it has any."""
    head = os.pread(descriptor, half, 0)
    tail = os.pread(descriptor, half, size - half)
    first, last = head.rfind(b"\n") + 1, tail.find(b"\n") + 1
    head, tail = head[: first or half], tail[last:]
    left = size - len(head) - len(tail)
    told = b"" if head.endswith(b"\n") else b"\n"
    told += b"[... lanewright bundle: %d bytes are left out here ...]\n" % left
    return Part(place, head + told + tail, left)
