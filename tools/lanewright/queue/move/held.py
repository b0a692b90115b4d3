"""The entries of a series, as it is written, that are in conflict: kept for those who only read."""

import hashlib
from collections.abc import Sequence

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.store.atomic import replace_file
from lanewright.terminal import quoted
from lanewright.transaction.journal import FOLDER

HELD = "conflicts.json"


class Held(msgspec.Struct, frozen=True):
    """What was in conflict when a series was last applied.

    Attributes:
        series: sha256 of the series' file, so that one that was edited since says nothing.
        entries: The entries, in the order of the series.
    """

    series: str
    entries: tuple[str, ...]


def keep_held(project: Project, lane: str, entries: Sequence[str]) -> None:
    """Keep which entries of a lane's series, as it is on disk, are in conflict.

    Hold the project for editing.
    """
    known = _read(project)
    held = {name: each for name, each in known.items() if name != lane}
    if entries:
        held[lane] = Held(_digest(project, lane), tuple(entries))
    if held != known:
        file = project.root / FOLDER / HELD
        content = msgspec.json.encode(held) + b"\n"
        replace_file(file, content, scratch=file.with_name(f"{HELD}.new"))


def held_in(project: Project, lane: str) -> tuple[str, ...]:
    """The entries that were in conflict when the series was last applied as it is now."""
    found = _read(project).get(lane)
    return found.entries if found and found.series == _digest(project, lane) else ()


def _digest(project: Project, lane: str) -> str:
    return hashlib.sha256(project.series_file(lane).read_bytes()).hexdigest()


def _read(project: Project) -> dict[str, Held]:
    file = project.root / FOLDER / HELD
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Held])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (msgspec.DecodeError, ValueError) as error:
        raise LanewrightError(f"{file} is damaged: {error}", hint=f"rm {quoted(file)}") from error
