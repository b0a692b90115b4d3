"""A night: what was tried of every lane, and how it went."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.store.atomic import replace_file
from lanewright.store.regular import read_regular

SCHEMA: Literal[1] = 1
FILE = "night.json"
MOST = 2**26

# ``pending`` is what a night has not come to; ``left out`` what an earlier step's failure keeps from
# being tried, or the lane has no use for; ``not run`` what lacks its hardware, or found it serving.
Verdict = Literal["pending", "passed", "drift", "conflicts", "failed", "not run", "left out"]


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One command of a night.

    Attributes:
        name: What it is of a lane, e.g. ``report``.
        command: Words behind ``lanewright``.
        lane: Whose; None where it is of all.
        verdict: What it came to.
        exit_code: What it ended with; None where it has not run.
        started: When, in UTC.
        seconds: How long it took.
        why: What it said last where it did not pass, or why it was not tried.
        out: Name in the night's folder of what it printed.
        log: Name in the night's folder of its talk.
        run: Name of the run's folder that it recorded, below ``runs/<lane>``.
    """

    name: str
    command: list[str]
    lane: str | None = None
    verdict: Verdict = "pending"
    exit_code: int | None = None
    started: str | None = None
    seconds: float | None = None
    why: str = ""
    out: str | None = None
    log: str | None = None
    run: str | None = None


class Night(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a night.

    Attributes:
        name: Of its folder below ``nights``: when it began, in UTC.
        started: The same as a time.
        finished: When it ended; None while it runs, and where it was killed.
        lanewright: Version of the tool.
        project: Folder of the project.
        commit: The project's own commit, where it is in git; with ``+`` where files differ from it.
        inputs: SHA-256 of all that people write of its lanes.
        lanes: Those that were asked for, in order.
        steps: In the order in which they run.
    """

    name: str
    started: str
    finished: str | None
    lanewright: str
    project: str
    commit: str | None
    inputs: str
    lanes: list[str]
    steps: list[Step]
    schema: Literal[1] = SCHEMA

    def worst(self) -> int:
        """What the night ends with: a failure is worse than hardware that is not here."""
        told = ("drift", "left out")
        # What a signal ended has a code of no meaning here.
        ours = frozenset(ExitCode)
        codes = [
            step.exit_code if step.exit_code in ours else ExitCode.INPUT
            for step in self.steps
            if step.verdict not in told and step.exit_code is not None
        ]
        return max(codes, key=lambda code: (code not in (0, ExitCode.HARDWARE), code), default=0)


def nights(places: Places) -> Path:
    """The folder that has one for each night."""
    return places.state / "nights"


def write_night(folder: Path, night: Night) -> None:
    """Write a night whole, or not at all.

    Raises:
        OSError: Its folder cannot be written.
    """
    content = msgspec.json.format(msgspec.json.encode(night), indent=1)
    replace_file(folder / FILE, content + b"\n")


def read_night(folder: Path) -> Night:
    """Read a night.

    Raises:
        LanewrightError: It is damaged, or of a later version of this tool.
    """
    file = folder / FILE
    content = read_regular(file, MOST)
    try:
        return msgspec.json.decode(content or b"", type=Night)
    except ValueError as error:
        why = error if content else "it is no regular file, or holds nothing"
        raise LanewrightError(
            f"{file} is no night that this lanewright can read: {why}",
            hint=f"move {folder} away",
        ) from error


def newest_nights(places: Places) -> Iterator[Path]:
    """Folders of nights, the newest first."""
    found = [file.parent for file in nights(places).glob(f"*/{FILE}")]
    yield from sorted(found, key=lambda folder: folder.name, reverse=True)
