"""The nights and runs that lie in the state folder, whatever else is there."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lanewright.nightly.night import FILE as NIGHT
from lanewright.nightly.night import nights
from lanewright.places import Places
from lanewright.project import LANE_NAME
from lanewright.serve.record import STAMP, STAMP_LENGTH

RECORD = "record.json"
RUN = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}(-\d+)?")


@dataclass(frozen=True)
class OnDisk:
    """A night's or a run's folder.

    Attributes:
        folder: Where it is.
        lane: The run's; None for a night.
    """

    folder: Path
    lane: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """What its row is found by: a night's name, or a run's lane and folder."""
        return (self.lane, self.folder.name) if self.lane is not None else (self.folder.name,)

    @property
    def file(self) -> Path:
        """What tells how it went; a night or run that was killed early has none."""
        return self.folder / (NIGHT if self.lane is None else RECORD)

    @property
    def linked(self) -> bool:
        """Whether a link leads there, which may be from anywhere."""
        depth = 2 if self.lane is None else 3
        return any(folder.is_symlink() for folder in [self.folder, *self.folder.parents][:depth])

    def stamp(self) -> str | None:
        """Another one whenever the file was written again; None where there is no file."""
        try:
            seen = self.file.lstat()
        except OSError:
            return None
        return f"{seen.st_ino}-{seen.st_size}-{seen.st_mtime_ns}"


def nights_on_disk(places: Places) -> list[OnDisk]:
    """Folders of nights, the oldest first."""
    return [OnDisk(folder) for folder in _folders(nights(places))]


def runs_on_disk(places: Places) -> list[OnDisk]:
    """Folders of runs, lane after lane, the oldest first."""
    lanes = _folders(places.state / "runs")
    return [OnDisk(folder, lane.name) for lane in lanes for folder in _folders(lane)]


def named_well(found: OnDisk) -> bool:
    """Whether the folder's name is one that a night or a run can have."""
    if found.lane is None:
        return found.folder.name.isprintable()
    return bool(LANE_NAME.fullmatch(found.lane)) and began(found) is not None


def began(run: OnDisk) -> datetime | None:
    """When a run began, by its folder's name; None where that is no run's name."""
    if not RUN.fullmatch(run.folder.name):
        return None
    try:
        return datetime.strptime(run.folder.name[:STAMP_LENGTH], STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def _folders(parent: Path) -> list[Path]:
    """Folders in a folder, by name; nothing that is half made or half removed."""
    if not parent.is_dir():
        return []
    seen = (child for child in parent.iterdir() if not child.name.startswith("."))
    return sorted((child for child in seen if child.is_dir()), key=lambda folder: folder.name)
