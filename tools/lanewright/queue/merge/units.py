"""What can be chosen of a change: its hunks, and a file's mode, creation, removal or whole."""

import hashlib
from dataclasses import dataclass

from lanewright.queue.merge.hunkid import hunk_ids
from lanewright.queue.merge.subset import BaseMismatchError, apply, split_lines
from lanewright.queue.patch.diff import Diff, FilePatch, Hunk
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, File, TreeId, blob_id, files, read_blobs

LINK = "120000"


@dataclass(frozen=True)
class Unit:
    """The smallest thing that can be chosen.

    Attributes:
        id: Name that survives edits elsewhere.
        path: File it changes.
        symbol: What encloses it.
        lines: Where it stands on the base, ``first+count`` (1-based); ``mode``; ``file`` for an
            empty file's creation or removal; ``whole`` for a binary or a symlink.
        hunk: Its hunk, where it has one.
    """

    id: str
    path: str
    symbol: str
    lines: str
    hunk: Hunk | None


@dataclass(frozen=True)
class OnBase:
    """A change read together with its own base.

    Attributes:
        diff: The change.
        base_name: For messages.
        sides: Per path, the file there on the base, or None.
        contents: Per path, the base's lines.
        wholes: Per path that is taken as a whole, its content afterwards.
        units: Everything that can be chosen, in file order.
    """

    diff: Diff
    base_name: str
    sides: dict[str, File | None]
    contents: dict[str, list[bytes]]
    wholes: dict[str, bytes]
    units: tuple[Unit, ...]


def read_on_base(repository: Repository, diff: Diff, base: TreeId, base_name: str) -> OnBase:
    """Hold a change against its base; every hunk must match byte for byte.

    Args:
        repository: The store.
        diff: The change.
        base: Tree that holds at least the changed files as they were.
        base_name: For messages.

    Raises:
        BaseMismatchError: A file or a line is not what the patch says; names file and hunk.
    """
    present = files(repository, base, [file.path for file in diff.files])
    whole = {file.path: file.post for file in diff.files if file.whole and file.post != NO_BLOB}
    blobs = read_blobs(repository, [*(file.blob for file in present.values()), *whole.values()])
    sides = {file.path: present.get(file.path) for file in diff.files}
    contents = {path: split_lines(blobs[side.blob]) if side else [] for path, side in sides.items()}
    units: list[Unit] = []
    for file in diff.files:
        _check_file(diff.source, file, sides[file.path], contents[file.path], base_name)
        units += _units(file, contents[file.path])
    wholes = {path: blobs[blob] for path, blob in whole.items()}
    return OnBase(diff, base_name, sides, contents, wholes, tuple(units))


def _check_file(
    source: str, file: FilePatch, side: File | None, lines: list[bytes], base_name: str
) -> None:
    whole = apply(lines, file, file.hunks, source=source, base_name=base_name)
    place = f"{source}: {file.path}"
    mode_only = file.pre == file.post == NO_BLOB
    found = side.blob if side else NO_BLOB
    if (side is None) != (file.old_mode is None and file.pre == NO_BLOB):
        state = "does not have this file" if side is None else "already has this file"
        raise BaseMismatchError(f"{place}: the base {base_name} {state}")
    if not mode_only and found != file.pre:
        raise BaseMismatchError(
            f"{place}: the patch was made against blob {file.pre}, the base {base_name} has {found}",
            hint="its `Base:` is not where it was made, or its `index` line was edited",
        )
    if side and file.old_mode and side.mode != file.old_mode:
        raise BaseMismatchError(
            f"{place}: the patch was made against mode {file.old_mode},"
            f" the base {base_name} has {side.mode}"
        )
    if file.whole:
        return
    if not mode_only and file.post == NO_BLOB and whole:
        raise BaseMismatchError(
            f"{place}: the patch removes the file, but its hunks leave some of its lines",
            hint="make the patch again with `git diff --full-index`",
        )
    if not mode_only and file.post != NO_BLOB and blob_id(whole) != file.post:
        raise BaseMismatchError(
            f"{place}: with all its hunks the file is blob {blob_id(whole)},"
            f" not {file.post} as its `index` line says",
            hint="a line that it adds was edited by hand; make the patch again with"
            " `git diff --full-index`",
        )


def _units(file: FilePatch, lines: list[bytes]) -> list[Unit]:
    named = hunk_ids(file.path, lines, file.hunks)
    units = [
        Unit(name, file.path, symbol, f"{hunk.old_start + 1}+{len(hunk.old)}", hunk)
        for hunk, (name, symbol) in zip(file.hunks, named, strict=True)
    ]
    edited = file.old_mode and file.new_mode
    if file.whole:
        units.append(_without_hunk(file.path, "whole", f"{file.pre} {file.post} {file.new_mode}"))
    if LINK in {file.old_mode, file.new_mode}:
        return units
    if (edited and file.old_mode != file.new_mode) or not units:
        what = "mode" if edited else "file"
        units.append(_without_hunk(file.path, what, f"{file.old_mode} {file.new_mode}"))
    return units


def _without_hunk(path: str, what: str, change: str) -> Unit:
    kind = "whole" if what == "whole" else "mode"
    text = f"{path}\0{kind} {change}"
    name = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:10]
    return Unit(name, path, "", what, None)
