"""``series/<lane>.lock``: what a series came to; written by the tool alone."""

import os
import tempfile
from pathlib import Path
from typing import Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.queue.pin import Pin
from lanewright.store.objects import TreeId

SCHEMA: Literal[1] = 1
Outcome = Literal["clean", "merged", "landed", "conflict", "file missing", "not selected"]


class HunkState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one hunk, or of a file's mode, creation or removal.

    Attributes:
        id: Its name; survives edits elsewhere in the patch.
        path: File it changes.
        symbol: Dotted name of what encloses it, or empty.
        lines: Where it stood on its own base, 1-based, as ``first+count``.
        outcome: What became of it on the pin.
        cause: Why, where that needs saying.
    """

    id: str
    path: str
    symbol: str
    lines: str
    outcome: Outcome
    cause: str = ""


class LockedEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One entry as applied.

    Attributes:
        name: As in the series.
        kind: What sort of thing it is.
        source: Path below the project.
        digest: sha256 of the patch file, or of an overlay's paths, modes and contents.
        base: What a patch was made against.
        subset: Tree id of the chosen hunks on that base.
        tree: Tree id of the lane once this entry is in.
        claims: What the entry takes for itself.
        hunks: A patch's hunks, chosen or not.
        files: An overlay's files, as laid into the lane's tree.
    """

    name: str
    kind: Literal["patch", "overlay"]
    source: str
    digest: str
    tree: TreeId
    base: Pin | None = None
    subset: TreeId | None = None
    claims: list[str] = []
    hunks: list[HunkState] = []
    files: list[str] = []


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """A lane, settled: the same lock gives the same tree.

    Attributes:
        schema: Version of this format.
        lane: The lane's name.
        inputs: sha256 over the pin and every entry's content and selection; equal inputs are
            not applied again.
        pin: Upstream, by object id.
        entries: In the order applied.
        tree: The lane's tree id.
    """

    schema: Literal[1]
    lane: str
    inputs: str
    pin: Pin
    entries: list[LockedEntry]
    tree: TreeId


def read_lock(path: Path) -> Lock | None:
    """The lock, or None where there is none yet.

    Raises:
        LanewrightError: It is there but damaged; the message names what is wrong in it.
    """
    try:
        lock = msgspec.json.decode(path.read_bytes(), type=Lock)
        if lock.lane != path.stem:
            raise msgspec.ValidationError(f"it is the lock of lane {lock.lane!r}")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LanewrightError(f"cannot read {path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise LanewrightError(
            f"{path} is damaged: {error}",
            hint=f"restore it (`git -C {path.parent} checkout -- {path.name}`), or remove it and"
            f" run `lanewright build {path.stem}`",
        ) from error
    return lock


def encode(lock: Lock) -> bytes:
    """The lock as the bytes of its file."""
    return msgspec.json.format(msgspec.json.encode(lock), indent=2) + b"\n"


def write_lock(path: Path, lock: Lock) -> None:
    """Replace the lock in one step; a killed run leaves the old one or the new one whole."""
    descriptor, scratch = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(encode(lock))
            stream.flush()
            os.fsync(stream.fileno())
        Path(scratch).chmod(0o644)
        Path(scratch).replace(path)
    finally:
        Path(scratch).unlink(missing_ok=True)
