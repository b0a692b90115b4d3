"""Conflicts laid out for a person: a folder with marked files, and the sides beside them."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.carried import Conflict
from lanewright.queue.fix.recipe import Side
from lanewright.queue.fix.sides import contents_of
from lanewright.store.git import Repository
from lanewright.store.objects import read_blobs
from lanewright.store.scratch import making

MANIFEST = "conflict.json"
SIDES = "sides"
OPEN = "<<<<<<<"
MOST_CONFLICTS = 127
FIRST_BYTES = 8000  # where git looks for a NUL, which no text has


class OpenFile(msgspec.Struct, frozen=True):
    """One file of a work folder, and the blobs that it was laid out from."""

    path: str
    ids: tuple[str, str, str]
    mode: str


class Manifest(msgspec.Struct, frozen=True):
    """What a work folder is for.

    Attributes:
        lane: The lane.
        entry: The entry.
        pin: The pin that its conflicts are on.
        files: What is to be settled.
    """

    lane: str
    entry: str
    pin: str
    files: list[OpenFile]


def work_folder(project: Project, lane: str, entry: str) -> Path:
    """Where an entry's conflicts are laid out."""
    return project.root / ".lanewright" / "resolve" / lane / entry


def manifest_of(lane: str, entry: str, pin: str, conflicts: Sequence[Conflict]) -> Manifest:
    """What a folder for these conflicts is for."""
    files = [OpenFile(each.path, each.sides.ids, each.sides.mode) for each in conflicts]
    return Manifest(lane, entry, pin, files)


def read_manifest(folder: Path) -> Manifest | None:
    """What a work folder is for; None where there is none.

    Raises:
        LanewrightError: It is damaged, or is no work folder.
    """
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        if not os.path.lexists(folder):
            return None
        raise LanewrightError(
            f"{folder} has no {MANIFEST}, so nothing says what it is for",
            hint=f"keep your edits elsewhere, remove {folder}, and resolve again",
        ) from error
    except (msgspec.DecodeError, ValueError) as error:
        raise LanewrightError(
            f"{folder / MANIFEST} is damaged: {error}",
            hint=f"keep your edits elsewhere, remove {folder}, and resolve again",
        ) from error


def lay_out(
    repository: Repository, folder: Path, manifest: Manifest, conflicts: Sequence[Conflict]
) -> None:
    """Write the folder, whole or not at all.

    Every file lies at its own path, with diff3 markers, and as each side has it below ``sides/``.

    Raises:
        OSError: It cannot be written.
    """
    with making(folder.parent) as scratch:
        for each in conflicts:
            contents = contents_of(repository, each.sides)
            for side, content in contents.items():
                if content is not None:
                    _write(scratch / SIDES / side / each.path, content)
            _write(scratch / each.path, _marked(repository, each, contents))
        (scratch / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
        scratch.rename(folder)


def discard(folder: Path) -> None:
    """Remove a work folder; a killed run leaves it whole, or where the next one clears it away."""
    with making(folder.parent) as gone:
        folder.rename(gone / folder.name)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _marked(
    repository: Repository, conflict: Conflict, contents: dict[Side, bytes | None]
) -> bytes:
    """What a person finds: git's merge with its markers, or a note where git would see nothing."""
    if conflict.remerged:
        blob = conflict.remerged.blob
        return read_blobs(repository, [blob])[blob]
    whole = _whole(conflict, contents)
    if whole:
        text, content = whole
        return _note(text) + content
    if conflict.merged:
        blob = conflict.merged.blob
        merged = read_blobs(repository, [blob])[blob]
    else:
        merged, count = _merge(repository, contents)
        if count:
            return merged
    text = f"git merged this, but: {conflict.why}; take this line out when it is right"
    return _note(text) + merged


def _whole(conflict: Conflict, contents: dict[Side, bytes | None]) -> tuple[str, bytes] | None:
    """What to say of a file that has no text to merge, and what to lay out below that."""
    ours, theirs, why = contents["ours"], contents["theirs"], conflict.why
    if any(b"\0" in content[:FIRST_BYTES] for content in contents.values() if content):
        return f"no text, and {why}; put the file that is right here, or delete this one", b""
    if conflict.taken:
        return f"{why}, so delete this file to go without it", theirs or b""
    if ours is None:
        told = f"{why}; delete this file to go without it, or take this line out to keep it"
        return told, theirs or b""
    if theirs is None:
        told = f"the entry removes this file, and {why}; delete it to follow the entry"
        return f"{told}, or take this line out to keep it", ours
    return None


def _note(text: str) -> bytes:
    """A line that a gate takes for a marker, so that a person must take it out."""
    return f"{OPEN} {text}\n".encode("utf-8", "surrogateescape")


def _merge(repository: Repository, contents: dict[Side, bytes | None]) -> tuple[bytes, int]:
    """Git's merge of three contents, and the number of its conflicts."""
    with tempfile.TemporaryDirectory(prefix="lanewright-merge-") as folder:
        names = ("ours", "base", "theirs")
        paths = [Path(folder, name) for name in names]
        for path in paths:
            path.write_bytes(contents[path.name] or b"")  # type: ignore[index]
        labels = [flag for name in names for flag in ("-L", name)]
        output = repository.run(
            "merge-file", "-p", "--diff3", *labels, *map(str, paths),
            ok=tuple(range(MOST_CONFLICTS + 1)),
        )  # fmt: skip
    return output.stdout, output.status
