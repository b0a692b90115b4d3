"""Where rebases stopped for a person, and the command that settles what they wait for."""

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.move.held import keep_held
from lanewright.queue.move.target import Target, target_of
from lanewright.queue.series import Series, load_series
from lanewright.store.atomic import replace_file
from lanewright.terminal import quoted
from lanewright.transaction.journal import FOLDER

STOPPED = "rebase.json"


class Stopped(msgspec.Struct, frozen=True):
    """Where a rebase of a lane stopped for a person.

    Attributes:
        before: The pin that it stood on.
        pin: The pin that it was taken to.
        release: The release that goes with it.
        entries: Those that are in conflict there, in the order of the series.
    """

    before: str
    pin: str
    release: str | None = None
    entries: tuple[str, ...] = ()


def remember(project: Project, lanes: Mapping[str, Stopped | None]) -> None:
    """Keep where lanes stopped, so that ``resolve`` knows the pin that is meant; None: nowhere.

    Hold the project for editing.
    """
    known = {**_read(project), **lanes}
    stopped = {lane: each for lane, each in known.items() if each}
    file = project.root / FOLDER / STOPPED
    content = msgspec.json.encode(stopped) + b"\n"
    replace_file(file, content, scratch=file.with_name(f"{STOPPED}.new"))


def stop_of(project: Project, lane: str) -> Stopped | None:
    """Where and for what the last rebase of a lane stopped, if its pin is still the one it left."""
    found = _read(project).get(lane)
    if found is None or load_series(project, lane).pin != found.before:
        return None
    return found


def stopped_at(project: Project, lane: str) -> Target | None:
    """Where the last rebase of a lane stopped, if its pin is still the one that it left."""
    found = stop_of(project, lane)
    return Target(found.pin, found.release) if found else None


def still_in_conflict(project: Project, lane: str, pin: str, entries: Sequence[str]) -> None:
    """Keep what is left to settle on a pin, be it that of the lane or where its rebase stopped.

    Hold the project for editing.
    """
    stop = stop_of(project, lane)
    if stop and stop.pin == pin:
        remember(project, {lane: replace(stop, entries=tuple(entries))})
    if load_series(project, lane).pin == pin:
        keep_held(project, lane, entries)


def meant_target(
    project: Project, places: Places, lane: str, series: Series, to: str | None
) -> Target:
    """What a ref stands for; the commit where a rebase stopped keeps the release of that rebase.

    Raises:
        LanewrightError: As ``target_of`` says.
    """
    target = target_of(project, places, lane, series, to)
    stopped = stopped_at(project, lane)
    if stopped and stopped.pin == target.pin:
        return dataclasses.replace(target, release=stopped.release)
    return target


def resolve_command(project: Project, lane: str, entry: str, pin: str) -> str:
    """The command that settles an entry's conflicts on a pin, with what it needs to mean those."""
    stopped = stopped_at(project, lane)
    meant = stopped.pin if stopped else load_series(project, lane).pin
    to = "" if pin == meant else f" --to {quoted(pin)}"
    return f"lanewright resolve {entry}{project.option(lane)}{to}"


def _read(project: Project) -> dict[str, Stopped]:
    file = project.root / FOLDER / STOPPED
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Stopped])
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (msgspec.DecodeError, ValueError) as error:
        raise LanewrightError(f"{file} is damaged: {error}", hint=f"rm {quoted(file)}") from error
