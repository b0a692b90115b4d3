"""An own patch as bytes: header fields, changed files, hunks; refused where it is unclear.

unidiff is used to show hunks; what is carried is read here, because a patch must go through
without one byte lost (line endings, missing last newline, names with blanks).
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from lanewright.queue.patchhead import read_head
from lanewright.queue.patchheader import PatchError, read_header
from lanewright.store.objects import BlobId

SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


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


@dataclass(frozen=True)
class FilePatch:
    """What a patch does to one file; ``NO_BLOB`` stands for a side without the file."""

    path: str
    pre: BlobId
    post: BlobId
    old_mode: str | None
    new_mode: str | None
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True)
class Patch:
    """An own patch: where it lies, the sha256 of its file, its header and what it changes."""

    path: Path
    digest: str
    fields: dict[str, str]
    files: tuple[FilePatch, ...] = field(default=())


def read(path: Path) -> Patch:
    """Read an own patch.

    Raises:
        PatchError: Missing, without a needed header field, abbreviated ids, a combined or binary
            diff, a rename, a hunk whose line counts do not add up.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PatchError(f"cannot read the patch {path}: {error.strerror}") from error
    if content.startswith(b"\xef\xbb\xbf"):
        raise PatchError(f"{path}: begins with a byte order mark; save it without")
    if re.search(rb"^diff --(cc|combined) ", content, re.MULTILINE):
        raise PatchError(
            f"{path}: a combined diff (of a merge) has no single base to apply to",
            hint="make the patch with `git diff --full-index BASE RESULT`",
        )
    if re.search(rb"^diff --git .*\r$", content, re.MULTILINE):
        raise PatchError(
            f"{path}: its own lines end in CRLF, so no path in it can be read",
            hint="keep patches out of line-end conversion (`*.patch -text` in .gitattributes)",
        )
    starts = [match.start() for match in SECTION.finditer(content)]
    header = content[: starts[0]] if starts else content
    spans = pairwise([*starts, len(content)])
    files = tuple(_file(path, content[start:end]) for start, end in spans)
    if not files:
        raise PatchError(f"{path}: changes nothing: no `diff --git` section in it")
    most, count = Counter(file.path for file in files).most_common(1)[0]
    if count > 1:
        raise PatchError(f"{path}: {most} has more than one section")
    return Patch(path, hashlib.sha256(content).hexdigest(), read_header(path, header), files)


def _file(patch: Path, section: bytes) -> FilePatch:
    lines = section.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    at = next((i for i, line in enumerate(lines) if line.startswith(b"@@ ")), len(lines))
    head = read_head(patch, lines[:at], bare=at == len(lines))
    return FilePatch(*head, tuple(_hunks(patch, head.path, lines[at:])))


def _hunks(patch: Path, path: str, lines: list[bytes]) -> Iterator[Hunk]:
    at, number = 0, 0
    while at < len(lines):
        number += 1
        match = HUNK.match(lines[at])
        if not match:
            raise PatchError(f"{patch}: {path}: hunk {number} does not begin with a @@ line")
        end = at + 1
        while end < len(lines) and lines[end][:1] in {b" ", b"+", b"-", b"\\"}:
            end += 1
        if lines[at + 1 : end] and lines[at + 1].startswith(b"\\"):
            raise PatchError(f'{patch}: {path}: hunk {number} begins with a "no newline" mark')
        hunk = _hunk(number, int(match[1]), lines[at + 1 : end])
        stated = tuple(int(count) if count else 1 for count in (match[2], match[4]))
        found = (len(hunk.old), len(hunk.new))
        if stated != found:
            raise PatchError(
                f"{patch}: {path}: hunk {number} says {stated[0]} old and {stated[1]} new lines"
                f" but holds {found[0]} and {found[1]}"
            )
        if hunk.old == hunk.new:
            raise PatchError(f"{patch}: {path}: hunk {number} changes nothing")
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
