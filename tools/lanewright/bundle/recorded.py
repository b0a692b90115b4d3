"""A run's record as a bundle tells it, read with no trust."""

from dataclasses import dataclass

import msgspec

from lanewright.bundle.private import STATE
from lanewright.history.forms import Record
from lanewright.history.measured import Measured, arms_of, boots_of
from lanewright.history.on_disk import OnDisk
from lanewright.history.reading_files import DamagedError, decoded, read_file


class Pulled(msgspec.Struct, frozen=True):
    """A pull request that an entry carries."""

    number: int
    head: str


class Hunk(msgspec.Struct, frozen=True):
    """One hunk of an entry."""

    outcome: str


class Carried(msgspec.Struct, frozen=True):
    """One entry that the lane carries."""

    name: str
    kind: str
    source: str
    pull: Pulled | None = None
    hunks: list[Hunk] = []
    files: list[str] = []


class Environment(msgspec.Struct, frozen=True):
    """What ran the lane."""

    base: str
    machine: str
    python: str | None
    torch: str | None
    vllm: str | None


class Model(msgspec.Struct, frozen=True):
    """What was served."""

    name: str
    hash: str


class Tactics(msgspec.Struct, frozen=True):
    """SHA-256 of each file of tactics that an arm ended with, by the file's name."""

    ended: dict[str, str]


class Engine(msgspec.Struct, frozen=True):
    """What an arm's engine had."""

    tactics: Tactics


class Compared(msgspec.Struct, frozen=True):
    """A comparison's engines, by arm; records of an earlier lanewright lack them."""

    engines: dict[str, Engine] = {}


class Facts(msgspec.Struct, frozen=True):
    """What the history has no column for."""

    folder: str
    entries: list[Carried]
    environment: Environment
    model: Model | None
    shims: list[str] = []
    equality: Compared | None = None


@dataclass(frozen=True)
class Recorded:
    """A run.

    Attributes:
        run: Its folder, and its lane.
        record: What the history takes in of it; None where there is none, or it is damaged.
        facts: The rest.
        why: Why there is no record.
        measured: How long its boots and arms took.
    """

    run: OnDisk
    record: Record | None = None
    facts: Facts | None = None
    why: str = ""
    measured: tuple[Measured, ...] = ()

    @property
    def roots(self) -> list[tuple[str, str]]:
        """The state folder of the machine that it ran on, with what stands for it."""
        folder = self.facts.folder if self.facts else ""
        below = f"/runs/{'/'.join(self.run.key)}"
        return [(folder.removesuffix(below), STATE)] if folder.endswith(below) else []


def recorded(run: OnDisk) -> Recorded:
    """Read a run's record; what is wrong with it is told."""
    if not run.file.exists():
        return Recorded(run, why="none: the run was interrupted, or is under way")
    try:
        content = read_file(run.file)
        record, facts = decoded(content, Record), decoded(content, Facts)
    except DamagedError as error:
        return Recorded(run, why=f"damaged: {error}")
    if record.lane != run.lane:
        return Recorded(run, why=f"damaged: it is of lane {record.lane}")
    measured = [*boots_of(record.boots)]
    if not (run.folder / "equality").is_symlink():
        measured += arms_of(run.folder, record.equality)
    return Recorded(run, record, facts, measured=tuple(measured))
