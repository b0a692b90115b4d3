"""An own patch as bytes: header fields, changed files, hunks; refused where it is unclear.

unidiff is used to show hunks; what is carried is read here, because a patch must go through
without one byte lost (line endings, missing last newline, names with blanks).
"""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from lanewright.queue.patch.diff import Diff, FilePatch, PatchError, read_hunks
from lanewright.queue.patch.patchhead import read_head
from lanewright.queue.patch.patchheader import read_header

SECTION = re.compile(rb"^diff --git ", re.MULTILINE)


@dataclass(frozen=True)
class Patch:
    """An own patch: where it lies, the sha256 of its file, its header and what it changes."""

    path: Path
    digest: str
    fields: dict[str, str]
    files: tuple[FilePatch, ...] = field(default=())

    @property
    def diff(self) -> Diff:
        """What it changes."""
        return Diff(str(self.path), self.files)


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
    return FilePatch(*head, tuple(read_hunks(str(patch), head.path, lines[at:])))
