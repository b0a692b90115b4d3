"""The note that an arm has finished, which ``inside/finished.py`` writes beside its answers."""

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import msgspec

from lanewright.store.regular import read_regular

# Bytes. A note has a few hundred, the answers of an arm some millions.
NOTE_MOST, FILE_MOST = 2**16, 2**26
# As records have it.
Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")]
# It is told, and must not steer a terminal.
Run = Annotated[str, msgspec.Meta(pattern=r"^[\w .-]{1,255}\Z")]


class Note(msgspec.Struct, frozen=True):
    """What is noted of an arm.

    Attributes:
        key: Of all that determines its answers.
        run: Name of the run's folder.
        finished: When, in UTC.
        boot_map: Digest of the file that it started from; None where that was none.
        files: Digests of the files that it left, by name.
    """

    key: str
    run: Run
    finished: Time
    boot_map: str | None
    files: dict[str, str]


def read_note(file: Path) -> Note | None:
    """Read a note; None where it is not whole."""
    content = read_regular(file, NOTE_MOST)
    try:
        return msgspec.json.decode(content, type=Note) if content else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def contents_of(note: Note, folder: Path, names: Collection[str]) -> dict[str, bytes] | None:
    """Read the files that a note names.

    Args:
        note: Which.
        folder: Where it lies.
        names: Of the files that its arm leaves; it may name no other.

    Returns:
        Their contents by their names; None where one is not what was noted.
    """
    if not note.files.keys() <= set(names):
        return None
    found: dict[str, bytes] = {}
    for name, noted in note.files.items():
        content = read_regular(folder / name, FILE_MOST)
        if content is None or hashlib.sha256(content).hexdigest() != noted:
            return None
        found[name] = content
    return found


def boot_map_digest(named: object) -> str | None:
    """Digest of a boot map, by an engine argument; None where that names no file."""
    if not isinstance(named, str) or not Path(named).is_absolute() or not Path(named).is_file():
        return None
    try:
        return hashlib.sha256(Path(named).read_bytes()).hexdigest()
    except OSError:
        return None
