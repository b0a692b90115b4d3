"""The note that an arm has finished, which ``inside/finished.py`` writes beside its answers."""

import hashlib
from pathlib import Path
from typing import Annotated

import msgspec

# As records have it.
Time = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]


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
    run: str
    finished: Time
    boot_map: str | None
    files: dict[str, str]


def read_note(file: Path) -> Note | None:
    """Read a note; None where it is not whole."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Note)
    except (OSError, msgspec.MsgspecError):
        return None


def contents_of(note: Note, folder: Path) -> dict[str, bytes] | None:
    """Read the files that a note names; None where one is not what was noted."""
    found: dict[str, bytes] = {}
    for name, noted in note.files.items():
        try:
            content = (folder / name).read_bytes()
        except OSError:
            return None
        if Path(name).name != name or hashlib.sha256(content).hexdigest() != noted:
            return None
        found[name] = content
    return found


def boot_map_digest(named: object) -> str | None:
    """Digest of a boot map, by an engine argument; None where that names no file."""
    if not isinstance(named, str) or not Path(named).is_absolute():
        return None
    try:
        return hashlib.sha256(Path(named).read_bytes()).hexdigest()
    except OSError:
        return None
