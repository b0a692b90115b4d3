"""Whole processes, measured from outside."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LAUNCHER = Path(__file__).parent / "launcher.py"
KIBIBYTE = 2**10
# Set where others use the machine: then the clock says more of them than of us.
BUSY = "LANEWRIGHT_BENCH_BUSY"
SAID = 2000


@dataclass(frozen=True)
class Spent:
    """What a command took.

    Attributes:
        seconds: By the clock, from its start to its end; or of processors, with all that it
            started, where ``BUSY`` is set.
        peak: The most bytes that it, or one that it started, had in memory.
    """

    seconds: float
    peak: int


def spent(
    command: Sequence[str], cwd: Path, environ: Mapping[str, str], *, ok: tuple[int, ...] = (0,)
) -> Spent:
    """Run a command and measure it.

    Args:
        command: With its arguments.
        cwd: Where it runs.
        environ: All that it sees.
        ok: Exit statuses that are no failure.

    Raises:
        RuntimeError: It failed; with the end of what it said.
    """
    with tempfile.TemporaryDirectory() as folder:
        result, log = Path(folder, "result"), Path(folder, "log")
        with log.open("wb") as output:
            subprocess.run(
                [sys.executable, "-S", str(LAUNCHER), str(result), *command],
                cwd=cwd,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=True,
            )
        status, seconds, busy, peak = json.loads(result.read_bytes())
        if status not in ok:
            said = log.read_text(errors="replace")[-SAID:]
            raise RuntimeError(f"{' '.join(command)} ended with {status}:\n{said}")
    return Spent(busy if os.environ.get(BUSY) else seconds, peak * KIBIBYTE)
