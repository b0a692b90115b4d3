"""A command's old and new state, and what must hold of a project that a kill left."""

import shutil
from pathlib import Path

from tests.killing import Killed, restoring
from tests.queue.scenarios import Scenario
from tests.upstream.fixtures import Carrying
from tests.upstream.whole import (
    files_of,
    leavings,
    require_whole_lane,
    require_whole_refs,
    work_folder,
)


class Watched:
    """A scenario's two states, and what is asked of a project that a kill left.

    Attributes:
        argv: The command, for a process of its own.
    """

    def __init__(self, carrying: Carrying, scenario: Scenario) -> None:
        scenario.prepare(carrying)
        self.carrying, self.scenario = carrying, scenario
        self.restore = restoring(carrying.root, carrying.places.store)
        self.argv = [self._placed(each) for each in scenario.argv]
        self.old, self.old_folder = files_of(carrying), work_folder(carrying)
        self.old_check = carrying.run("build", "--check")
        self.prepare()
        assert carrying.run(*self.argv) == scenario.code
        self.new, self.new_folder = files_of(carrying), work_folder(carrying)
        self.new_check = carrying.run("build", "--check")
        self.written = self._outside()

    @property
    def edits(self) -> bool:
        """Whether the command edits the project's own files."""
        return self.old != self.new

    def prepare(self) -> None:
        """Bring the state from which the command starts."""
        self.restore()
        for left in self.carrying.root.parent.glob(".making-*"):
            shutil.rmtree(left)
        shutil.rmtree(self._export, ignore_errors=True)

    def require_whole(self, killed: Killed) -> str:
        """The next start works, everything is of one state, and the command can be given again.

        Returns:
            Which state: ``old`` or ``new``; ``new`` where they are the same.
        """
        carrying = self.carrying
        require_whole_refs(carrying)
        assert self._outside() in ({}, self.written), killed
        folder = work_folder(carrying)
        assert folder in (self.old_folder, self.new_folder), killed
        assert carrying.run("list") == 0, killed
        found = files_of(carrying)
        assert found in (self.old, self.new), killed
        if self.edits:
            check = self.new_check if found == self.new else self.old_check
            require_whole_lane(carrying, check=check)
            # What a person made of a conflict is kept until it is recorded.
            assert found == self.new or folder == self.old_folder, killed
        self._require_again(killed, done=self.edits and found == self.new)
        return "new" if found == self.new else "old"

    def _require_again(self, killed: Killed, *, done: bool) -> None:
        carrying, scenario = self.carrying, self.scenario
        if not (done and scenario.again is None):
            assert carrying.run(*self.argv) in {scenario.code, scenario.again}, killed
        if done and scenario.again == 1:  # it was refused before it could write anything
            assert carrying.run("fetch") == 0
        assert files_of(carrying) == self.new, killed
        assert work_folder(carrying) == self.new_folder, killed
        assert self._outside() == self.written, killed
        assert leavings(carrying) == [], killed
        require_whole_refs(carrying)
        assert carrying.run("build", "--check") == self.new_check, killed

    @property
    def _export(self) -> Path:
        return self.carrying.root.parent / "export"

    def _outside(self) -> dict[str, bytes]:
        """What it wrote outside of the project."""
        found = [path for path in self._export.rglob("*") if path.is_file()]
        return {path.relative_to(self._export).as_posix(): path.read_bytes() for path in found}

    def _placed(self, word: str) -> str:
        return str(self.carrying.root.parent / word[3:]) if word.startswith("../") else word
