"""An own patch as bytes: header fields, changed files, hunks; refused where it is unclear.

unidiff is used to show hunks; what is carried is read here, because a patch must go through
without one byte lost (line endings, missing last newline, names with blanks).
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from lanewright.queue.patchheader import PatchError, read_header
from lanewright.queue.quoting import unquote
from lanewright.store.objects import NO_BLOB, BlobId
from lanewright.store.safepath import check

SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
INDEX = re.compile(rb"index ([0-9a-f]{40})\.\.([0-9a-f]{40})(?: ([0-7]{6}))?$")
MODES = frozenset({None, "100644", "100755"})


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
    """

    number: int
    old_start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]
    first_change: int


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
    """An own patch: where it lies, its header fields and the files it changes."""

    path: Path
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
    return Patch(path, read_header(path, header), files)


def _file(patch: Path, section: bytes) -> FilePatch:
    lines = section.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    at = next((i for i, line in enumerate(lines) if line.startswith(b"@@ ")), len(lines))
    head = lines[:at]
    if any(line.startswith((b"rename ", b"copy ", b"similarity ")) for line in head):
        raise PatchError(
            f"{patch}: a file is renamed or copied: {head[0].decode('utf-8', 'replace')}",
            hint="make the patch with `git diff --full-index --no-renames`",
        )
    path = check(_path(patch, head), source=patch.name)
    for line in head:
        if line.startswith((b"GIT binary patch", b"Binary files ")):
            raise PatchError(f"{patch}: {path} is binary; lay it in as an overlay file instead")
    old_mode, new_mode = _modes(head)
    index = next((match for line in head if (match := INDEX.match(line))), None)
    if index:
        if index[3]:
            old_mode = new_mode = index[3].decode()
        pre, post = BlobId(index[1].decode()), BlobId(index[2].decode())
    elif any(line.startswith(b"index ") for line in head):
        raise PatchError(
            f"{patch}: {path}: the `index` line abbreviates object ids",
            hint="make the patch with `git diff --full-index`",
        )
    elif old_mode and new_mode and at == len(lines):
        pre = post = NO_BLOB
    else:
        raise PatchError(f"{patch}: {path}: no `index` line, so its base cannot be checked")
    odd = {old_mode, new_mode} - MODES
    if odd:
        raise PatchError(
            f"{patch}: {path} has the mode {odd.pop()}: only regular files can be carried, for a"
            " symlink or submodule may reach outside the tree"
        )
    hunks = tuple(_hunks(patch, path, lines[at:]))
    return FilePatch(path, pre, post, old_mode, new_mode, hunks)


def _modes(head: list[bytes]) -> tuple[str | None, str | None]:
    old = new = None
    for line in head:
        words = line.split(b" ")
        if line.startswith((b"old mode ", b"deleted file mode ")):
            old = words[-1].decode()
        if line.startswith((b"new mode ", b"new file mode ")):
            new = words[-1].decode()
    return old, new


def _path(patch: Path, head: list[bytes]) -> str:
    """The file's path: two equal halves of the first line, which ``---`` and ``+++`` repeat."""
    names = head[0].removeprefix(b"diff --git ")
    half = len(names) // 2
    try:
        old, new = unquote(names[:half]), unquote(names[half + 1 :])
        repeated = [
            unquote(line[4:].rstrip(b"\t")) for line in head if line.startswith((b"--- ", b"+++ "))
        ]
    except ValueError as error:
        raise PatchError(f"{patch}: {error} in the head of {head[0]!r}") from error
    if old[1:] != new[1:]:
        raise PatchError(f"{patch}: cannot tell the path in {head[0]!r}")
    path = _without(patch, new, "b/")
    odd = set(repeated) - {"/dev/null", f"a/{path}", f"b/{path}"}
    if odd:
        raise PatchError(f"{patch}: {path}: its `---` or `+++` line names {odd.pop()!r}")
    return path


def _without(patch: Path, name: str, prefix: str) -> str:
    if not name.startswith(prefix):
        raise PatchError(
            f"{patch}: the path {name!r} lacks the prefix {prefix!r}",
            hint="make the patch with `git -c diff.noprefix=false diff --full-index`",
        )
    return name.removeprefix(prefix)


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
    context = next(i for i, (marker, _) in enumerate([*marked, (b"+", b"")]) if marker != b" ")
    return Hunk(
        number=number,
        old_start=old_start,
        old=old,
        new=tuple(text for marker, text in marked if marker != b"-"),
        removed=tuple(text for marker, text in marked if marker == b"-"),
        added=tuple(text for marker, text in marked if marker == b"+"),
        first_change=old_start + context,
    )
