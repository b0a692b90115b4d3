"""Probe this machine: ``nox -s probe -- e1|e2 [--blocks N] [--out FILE]``.

``LANEWRIGHT_GPU_PYTHON`` names a Python with torch and Triton for CUDA. Without a CUDA device the probe's
kernels are held against what they must compute, under Triton's interpreter with the default lane's Python,
its measurements are told to be open, and it ends with exit code 6. Where something is not exact it ends with
5, and nothing that it measured is told.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.probes import counter, reads
from benchmarks.probes.machine import PYTHON, Machine, machine, run
from benchmarks.probes.record import keep, record
from lanewright.errors import ExitCode, LanewrightError
from lanewright.terminal import emit, say

PROBES: dict[str, ModuleType] = {"e1": counter, "e2": reads}


def main() -> ExitCode:
    """Run one, keep its record, and print a line for each row."""
    made = argparse.ArgumentParser(
        prog="nox -s probe --", description=(__doc__ or "").partition("\n")[0]
    )
    made.add_argument("probe", choices=PROBES)
    made.add_argument("--blocks", type=int, default=200, help="measured blocks; by default 200")
    made.add_argument("--out", type=Path, metavar="FILE", help="the record; else among the runs'")
    asked = made.parse_args()
    try:
        return _probe(asked.probe, asked.blocks, asked.out)
    except LanewrightError as error:
        say(f"error: {error}")
        return error.exit_code


def _probe(name: str, blocks: int, out: Path | None) -> ExitCode:
    probe, found = PROBES[name], machine()
    if found.missing:
        say(f"no CUDA device: {found.missing}\n{PYTHON} names a Python that has torch for one")
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        try:
            run(found, probe.SCRIPT, result, blocks)
        except subprocess.CalledProcessError as error:
            raise LanewrightError(f"{name}: its script ended with {error.returncode}") from error
        told: dict[str, Any] = json.loads(result.read_text())
    wrong = told["wrong"]
    for each in wrong:
        say(f"NOT EXACT: {each}")
    rows = [] if wrong else [probe.facts(each) for each in told["rows"]]
    kept = record(name, found, exact=not wrong, rows=rows, open_rows=_open(probe, found))
    emit(f"{found.device or 'interpreter'}: {told['checked']} checks, {'not ' * bool(wrong)}exact")
    for row in rows:
        emit(probe.line(row))
    for each in kept["open"]:
        emit(f"  open: {each}")
    emit(f"record: {keep(kept, out)}")
    if wrong:
        return ExitCode.MISMATCH
    return ExitCode.CLEAN if found.device else ExitCode.HARDWARE


def _open(probe: ModuleType, found: Machine) -> list[str]:
    kernel = [probe.KERNEL] if hasattr(probe, "KERNEL") else []
    return kernel if found.device else [f"{probe.ROWS}: no CUDA device ({found.missing})", *kernel]


if __name__ == "__main__":
    sys.exit(main())
