"""The head of one file's section in a patch: path, object ids, modes."""

import re
from pathlib import Path
from typing import NamedTuple

from lanewright.queue.patch.diff import PatchError
from lanewright.queue.patch.quoting import unquote
from lanewright.store.objects import NO_BLOB, BlobId
from lanewright.store.safepath import check

INDEX = re.compile(rb"index ([0-9a-f]{40})\.\.([0-9a-f]{40})(?: ([0-7]{6}))?$")
MODES = frozenset({None, "100644", "100755"})


class Head(NamedTuple):
    """What a section says before its hunks; ``NO_BLOB`` stands for a side without the file."""

    path: str
    pre: BlobId
    post: BlobId
    old_mode: str | None
    new_mode: str | None


def read_head(patch: Path, head: list[bytes], *, bare: bool) -> Head:
    """Read the lines of a section up to its first hunk.

    Args:
        patch: The patch, for messages.
        head: The lines, without their ends.
        bare: Whether no hunk follows.

    Raises:
        PatchError: A rename, a binary, abbreviated or missing ids, or lines that disagree.
        UnsafePathError: The path would leave the tree.
    """
    if any(line.startswith((b"rename ", b"copy ", b"similarity ")) for line in head):
        raise PatchError(
            f"{patch}: a file is renamed or copied: {head[0].decode('utf-8', 'replace')}",
            hint="make the patch with `git diff --full-index --no-renames`",
        )
    path = check(_path(patch, head), source=patch.name)
    if any(line.startswith((b"GIT binary patch", b"Binary files ")) for line in head):
        raise PatchError(f"{patch}: {path} is binary; lay it in as an overlay file instead")
    old_mode, new_mode = _modes(head)
    pre, post, stated = _ids(patch, path, head, mode_only=bare and bool(old_mode and new_mode))
    if stated and {old_mode, new_mode} - {None, stated}:
        raise PatchError(f"{patch}: {path}: its mode lines and its `index` line disagree")
    if stated:
        old_mode = new_mode = stated
    odd = {old_mode, new_mode} - MODES
    if odd:
        raise PatchError(
            f"{patch}: {path} has the mode {odd.pop()}: only regular files can be carried, for a"
            " symlink or submodule may reach outside the tree"
        )
    return Head(path, pre, post, old_mode, new_mode)


def _ids(
    patch: Path, path: str, head: list[bytes], *, mode_only: bool
) -> tuple[BlobId, BlobId, str | None]:
    """Object ids before and after, and the mode where the same line says it."""
    lines = [line for line in head if line.startswith(b"index ")]
    if not lines and mode_only:
        return NO_BLOB, NO_BLOB, None
    if not lines:
        raise PatchError(f"{patch}: {path}: no `index` line, so its base cannot be checked")
    index = INDEX.match(lines[0])
    if not index:
        raise PatchError(
            f"{patch}: {path}: the `index` line abbreviates object ids",
            hint="make the patch with `git diff --full-index`",
        )
    if index[1] == index[2]:
        raise PatchError(f"{patch}: {path}: its `index` line says that nothing changes")
    stated = index[3].decode() if index[3] else None
    return BlobId(index[1].decode()), BlobId(index[2].decode()), stated


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
