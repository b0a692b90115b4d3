"""What can be chosen of a patch: its hunks, and a file's mode, creation or removal."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.queue.hunkid import hunk_ids
from lanewright.queue.patchfile import FilePatch, Hunk, Patch
from lanewright.queue.subset import BaseMismatchError, apply, split_lines
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, File, TreeId, blob_id, files, read_blobs
from lanewright.store.write import Content, edit_tree, store_files


@dataclass(frozen=True)
class Unit:
    """The smallest thing that can be chosen.

    Attributes:
        id: Name that survives edits elsewhere.
        path: File it changes.
        symbol: What encloses it.
        lines: Where it stands on the base, ``first+count`` (1-based).
        hunk: Its hunk; None for a mode alone, or an empty file's creation or removal.
    """

    id: str
    path: str
    symbol: str
    lines: str
    hunk: Hunk | None


@dataclass(frozen=True)
class OnBase:
    """A patch read together with its own base.

    Attributes:
        patch: The patch.
        base: Tree id of its base.
        base_name: For messages.
        sides: Per path, the file there on the base, or None.
        contents: Per path, the base's lines.
        units: Everything that can be chosen, in patch order.
    """

    patch: Patch
    base: TreeId
    base_name: str
    sides: dict[str, File | None]
    contents: dict[str, list[bytes]]
    units: tuple[Unit, ...]


def read_on_base(repository: Repository, patch: Patch, base: TreeId, base_name: str) -> OnBase:
    """Hold a patch against its base; every hunk must match byte for byte.

    Raises:
        BaseMismatchError: A file or a line is not what the patch says; names file and hunk.
    """
    present = files(repository, base, [file.path for file in patch.files])
    blobs = read_blobs(repository, [file.blob for file in present.values()])
    sides = {file.path: present.get(file.path) for file in patch.files}
    contents = {path: split_lines(blobs[side.blob]) if side else [] for path, side in sides.items()}
    units: list[Unit] = []
    for file in patch.files:
        _check_file(patch, file, sides[file.path], contents[file.path], base_name)
        units += _units(file, contents[file.path])
    return OnBase(patch, base, base_name, sides, contents, tuple(units))


def _check_file(
    patch: Patch, file: FilePatch, side: File | None, lines: list[bytes], base_name: str
) -> None:
    whole = apply(lines, file, file.hunks, source=str(patch.path), base_name=base_name)
    place = f"{patch.path}: {file.path}"
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
    if (edited and file.old_mode != file.new_mode) or not units:
        text = f"{file.path}\0mode {file.old_mode} {file.new_mode}"
        name = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:10]
        units.append(Unit(name, file.path, "", "mode" if edited else "file", None))
    return units


def choose(on_base: OnBase, select: Sequence[str], place: str) -> frozenset[str]:
    """Ids of the chosen units.

    Args:
        on_base: The patch.
        select: Paths or ``path:id``; empty takes everything.
        place: Series and entry, for messages.

    Raises:
        LanewrightError: One of them matches nothing, or an id is not unique.
    """
    if not select:
        return frozenset(unit.id for unit in on_base.units)
    chosen: set[str] = set()
    for wanted in select:
        path, _, name = wanted.partition(":")
        found = [u.id for u in on_base.units if u.path == path and u.id.startswith(name)]
        if not found or (name and len(found) > 1):
            raise LanewrightError(
                f"{place}: selects {wanted!r}, which matches {len(found)} hunks"
                f" of {on_base.patch.path.name}",
                hint="`lanewright show` lists paths and hunk ids",
            )
        chosen.update(found)
    return frozenset(chosen)


def with_units(on_base: OnBase, chosen: Iterable[str]) -> dict[str, Content | None]:
    """The changed files when only some units are taken; None stands for a removed file."""
    wanted = frozenset(chosen)
    changes: dict[str, Content | None] = {}
    for file in on_base.patch.files:
        units = [u for u in on_base.units if u.path == file.path]
        taken = [u for u in units if u.id in wanted]
        if not taken:
            continue
        if file.post == NO_BLOB != file.pre and len(taken) == len(units):
            changes[file.path] = None
            continue
        side = on_base.sides[file.path]
        raw = apply(
            on_base.contents[file.path],
            file,
            [u.hunk for u in taken if u.hunk],
            source=str(on_base.patch.path),
            base_name=on_base.base_name,
        )
        mode_taken = any(u.hunk is None for u in taken) or side is None
        mode = file.new_mode if mode_taken else None
        changes[file.path] = Content(mode or (side.mode if side else "100644"), raw)
    return changes


def subset_tree(repository: Repository, on_base: OnBase, chosen: Iterable[str]) -> TreeId:
    """The base with only the chosen units in place."""
    changes = store_files(repository, with_units(on_base, chosen))
    return edit_tree(repository, on_base.base, changes)
