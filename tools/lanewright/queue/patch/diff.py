"""What a change does to files: hunks as bytes, whatever it was read from."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.store.objects import BlobId

HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


class PatchError(LanewrightError):
    """A patch cannot be read as it must be."""


@dataclass(frozen=True)
class Hunk:
    """One hunk, addressed by its lines in the old file.

    Attributes:
        number: 1-based place within its file.
        old_start: 0-based index of the first old line; for an insertion, of the line after it.
        old: Lines before, each with its own line end.
        new: Lines after.
        removed: Lines taken away, without context.
        added: Lines brought in, without context.
        first_change: 0-based index in the old file of the first line that is not context.
        last_change: The same of the line after the last one that is not context.
    """

    number: int
    old_start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]
    first_change: int
    last_change: int

    @property
    def replacement(self) -> tuple[bytes, ...]:
        """What stands from the first change to the last once the hunk is in place."""
        below = self.old_start + len(self.old) - self.last_change
        return self.new[self.first_change - self.old_start : len(self.new) - below]


@dataclass(frozen=True)
class FilePatch:
    """What a change does to one file; ``NO_BLOB`` stands for a side without the file.

    Attributes:
        path: The file.
        pre: Blob before.
        post: Blob after.
        old_mode: Mode before; None where there was no file.
        new_mode: Mode after; None where there is no file.
        hunks: In file order.
        whole: Whether the file can only be taken as a whole: a binary, or a symlink.
        partner: The other path where the file was renamed from or to it.
    """

    path: str
    pre: BlobId
    post: BlobId
    old_mode: str | None
    new_mode: str | None
    hunks: tuple[Hunk, ...]
    whole: bool = False
    partner: str | None = None


@dataclass(frozen=True)
class Diff:
    """What a change does.

    Attributes:
        source: What to call it in messages.
        files: Changed files.
        submodules: Paths of the submodules that it changes too, which no lane can have.
    """

    source: str
    files: tuple[FilePatch, ...]
    submodules: tuple[str, ...] = ()


def read_hunks(source: str, path: str, lines: list[bytes]) -> Iterator[Hunk]:
    """The hunks of one file's section.

    Args:
        source: The patch, for messages.
        path: The file, for messages.
        lines: From the first ``@@`` line on, without their ends.

    Raises:
        PatchError: A hunk whose line counts do not add up, or that changes nothing.
    """
    at, number = 0, 0
    while at < len(lines):
        number += 1
        match = HUNK.match(lines[at])
        if not match:
            raise PatchError(f"{source}: {path}: hunk {number} does not begin with a @@ line")
        end = at + 1
        while end < len(lines) and lines[end][:1] in {b" ", b"+", b"-", b"\\"}:
            end += 1
        if lines[at + 1 : end] and lines[at + 1].startswith(b"\\"):
            raise PatchError(f'{source}: {path}: hunk {number} begins with a "no newline" mark')
        hunk = _hunk(number, int(match[1]), lines[at + 1 : end])
        stated = tuple(int(count) if count else 1 for count in (match[2], match[4]))
        found = (len(hunk.old), len(hunk.new))
        if stated != found:
            raise PatchError(
                f"{source}: {path}: hunk {number} says {stated[0]} old and {stated[1]} new lines"
                f" but holds {found[0]} and {found[1]}"
            )
        if hunk.old == hunk.new:
            raise PatchError(f"{source}: {path}: hunk {number} changes nothing")
        yield hunk
        at = end


def _hunk(number: int, start: int, body: list[bytes]) -> Hunk:
    marked: list[tuple[bytes, bytes]] = []
    for line in body:
        if line.startswith(b"\\"):
            marker, text = marked.pop()
            marked.append((marker, text.removesuffix(b"\n")))
        else:
            marked.append((line[:1], line[1:] + b"\n"))
    old = tuple(text for marker, text in marked if marker != b"+")
    old_start = start - 1 if old else start
    context = _context(marked)
    return Hunk(
        number=number,
        old_start=old_start,
        old=old,
        new=tuple(text for marker, text in marked if marker != b"-"),
        removed=tuple(text for marker, text in marked if marker == b"-"),
        added=tuple(text for marker, text in marked if marker == b"+"),
        first_change=old_start + context,
        last_change=old_start + len(old) - _context(marked[::-1]),
    )


def _context(marked: list[tuple[bytes, bytes]]) -> int:
    """Number of context lines before the first change."""
    return next((i for i, (marker, _) in enumerate(marked) if marker != b" "), len(marked))
