"""What a night's steps printed, as typed values; None where they printed no such thing."""

from pathlib import Path
from typing import TypeVar

import msgspec

from lanewright.page.nights import SeenNight
from lanewright.report.model import Report

Output = TypeVar("Output")
PRINTED = ("passed", "conflicts", "failed")


class BadHunk(msgspec.Struct, frozen=True):
    """A hunk that a search found."""

    id: str
    path: str
    symbol: str = ""
    outcome: str = ""


class BadPart(msgspec.Struct, frozen=True):
    """A part that a search found."""

    part: str
    told: str = ""
    hunks: list[BadHunk] = []
    texts: list[str] = []
    files: list[str] = []
    untold: str = ""

    def is_of(self, entry: str) -> bool:
        """Whether it is an entry, or a file or hunk of it."""
        return self.part == entry or self.part.startswith(f"{entry}:")


class Bisected(msgspec.Struct, frozen=True):
    """What a search came to."""

    of: int
    tries: int
    parts: list[BadPart]
    good_without: list[str]
    next: str | None = None

    @property
    def blamed(self) -> list[BadPart]:
        """Those without which the lane is good; all where it is not good without any."""
        return [part for part in self.parts if part.part in self.good_without] or self.parts

    @property
    def beside(self) -> list[BadPart]:
        """The other parts that it was bad with."""
        return [part for part in self.parts if part not in self.blamed]

    def blames(self, entry: str) -> bool:
        """Whether what is to blame is of an entry."""
        return any(part.is_of(entry) for part in self.blamed)


class PullStanding(msgspec.Struct, frozen=True):
    """A carried pull request beside upstream's."""

    number: int
    head: str
    place: str = "carried"
    newest: str | None = None
    note: str = ""
    title: str = ""
    state: str = ""


class Standing(msgspec.Struct, frozen=True):
    """Where a lane stood."""

    pin: str
    lock: str
    tree: Path | None
    layout: Path | None
    open: int
    left_out: list[str]
    stopped: str | None
    stale: int
    pulls: list[PullStanding]
    next: str | None


def report_of(seen: SeenNight, lane: str) -> Report | None:
    """What became of a lane's hunks."""
    return _printed(seen, lane, "report", Report)


def bisect_of(seen: SeenNight, lane: str) -> Bisected | None:
    """Which part of a lane is to blame."""
    return _printed(seen, lane, "bisect", Bisected)


def standing_of(seen: SeenNight, lane: str) -> Standing | None:
    """Where a lane stood."""
    found = _printed(seen, lane, "status", list[Standing])
    return found[0] if found else None


def _printed(seen: SeenNight, lane: str, name: str, kind: type[Output]) -> Output | None:
    step = seen.step(lane, name)
    content = seen.read(step.out) if step and step.verdict in PRINTED else b""
    try:
        return msgspec.json.decode(content, type=kind) if content else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
