"""What a command says of a tree, as ``git bisect run`` takes its exit status."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lanewright.errors import LanewrightError
from lanewright.guarded import ended, guarded
from lanewright.queue.culprit.moving import MovingSite
from lanewright.store.objects import TreeId, raw

Verdict = Literal["good", "bad", "untestable"]
# The environment of a command, given the folder of the tree and one for Python's compiled files.
Environ = Callable[[Path, Path], Mapping[str, str]]

NOT_TESTABLE = 125
LAST_VERDICT = 127


@dataclass(frozen=True)
class Judge:
    """A command, and where it finds what it judges.

    Attributes:
        command: A line for ``sh``.
        cwd: Where it runs.
        scratch: Folder of this run, for the list of parts and for Python's compiled files.
        site: Holds the tree.
        environ: What the command gets beside where things are.
    """

    command: str
    cwd: Path
    scratch: Path
    site: MovingSite
    environ: Environ

    def verdict(self, tree: TreeId, parts: Iterable[str]) -> Verdict:
        """Lay a tree out and run the command on it.

        Args:
            tree: What is judged.
            parts: What of the lane is in it, for the command to read.

        Raises:
            LanewrightError: The command gave no verdict: a signal ended it, or it said to stop.
            OSError: The tree cannot be laid out.
        """
        self.site.hold(tree)
        (self.scratch / "parts").write_bytes(raw("".join(f"{part}\n" for part in parts)))
        status = self._run()
        if not 0 <= status <= LAST_VERDICT:
            raise LanewrightError(
                f"the command {ended(status)}, which is no verdict: {self.command}",
                hint="0 says good, 125 that it cannot be told, any other up to 127 bad",
            )
        if status == NOT_TESTABLE:
            return "untestable"
        return "bad" if status else "good"

    def _run(self) -> int:
        """Run it in a process group of its own, which ends with it; its output is talk."""
        process = subprocess.Popen(
            guarded(["sh", "-c", self.command]),
            stdin=subprocess.PIPE,
            stdout=sys.stderr or subprocess.DEVNULL,
            stderr=sys.stderr or subprocess.DEVNULL,
            cwd=self.cwd,
            env={
                **self.environ(self.site.folder, self.scratch / "bytecode"),
                "LANEWRIGHT_TREE": str(self.site.folder),
                "LANEWRIGHT_PARTS": str(self.scratch / "parts"),
            },
            start_new_session=True,
        )
        try:
            return process.wait()
        finally:
            # Closes its standard input, upon which the guard ends what is left, and waits for it.
            process.communicate()


def of_caller(tree: Path, bytecode: Path) -> Mapping[str, str]:
    """This process's own environment, in which Python finds the tree before all else."""
    before = os.environ.get("PYTHONPATH")
    path = [str(tree), *([before] if before else [])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONPYCACHEPREFIX": str(bytecode),
    }
