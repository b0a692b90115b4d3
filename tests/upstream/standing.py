"""A project that stands on disk with a store of its own, as every test of commands needs it."""

from dataclasses import dataclass
from pathlib import Path

from lanewright.__main__ import run
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.lock import Lock, read_lock
from lanewright.store.git import Repository


@dataclass(frozen=True)
class Standing:
    """A project.

    Attributes:
        root: Its folder.
        places: Its store and state.
    """

    root: Path
    places: Places

    @property
    def project(self) -> Project:
        return Project.find(self.root)

    @property
    def repository(self) -> Repository:
        """The lane's store."""
        return Repository(self.places.objects)

    def run(self, *arguments: str) -> int:
        """Run a command line in the project; give back its exit code."""
        return run(["-C", str(self.root), *arguments])


@dataclass(frozen=True)
class OneLane(Standing):
    """A project with the lane ``sample``."""

    @property
    def series(self) -> Path:
        return self.root / "series/sample.toml"

    @property
    def lock(self) -> Lock:
        """The lane's lock, which must be there."""
        lock = read_lock(self.root / "series/sample.lock")
        assert lock
        return lock
