"""What rows and counts cost on a GPU: ``nox -s bench -- device [--blocks N]``.

A row copy is held against a plain copy of pinned memory of as many bytes, in turns at random, and so
is a batch of the driver's (where that Python has vLLM) against a loop of copies; the counting of picks
against the same launches that count nothing, 40 layers in one graph.
``LANEWRIGHT_GPU_PYTHON`` names a Python with torch for CUDA. Without one it ends with exit code 6,
and where a share is not reached with 5.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bounds import below, verdict
from benchmarks.intervals import Interval, median
from lanewright.errors import ExitCode
from lanewright.terminal import emit, say

PYTHON = "LANEWRIGHT_GPU_PYTHON"
PROBE = "import numpy, torch, triton; print(torch.cuda.get_device_name())"
INSIDE = Path(__file__).parent / "inside"
OVERLAY = Path(__file__).parents[1] / "overlay"
SECONDS = 600.0
# What the upper end of a share's interval must reach, and a step of the machine that the lanes are for.
LEAST_SHARE = 0.9
STEP_MS = 14.6


def main() -> ExitCode:
    """Run, and print a line for each copy and each number of tokens."""
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--blocks", type=int, default=200)
    asked = made.parse_args()
    python = os.environ.get(PYTHON, sys.executable)
    device, missing = _device(python)
    if missing:
        say(f"no CUDA device: {missing}\n{PYTHON} names a Python that has torch for one")
        return ExitCode.HARDWARE
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        environ = {
            **{name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"},
            "PYTHONPATH": f"{OVERLAY}:{INSIDE}",
        }
        command = [python, str(INSIDE / "device_costs.py"), str(result), str(asked.blocks)]
        subprocess.run(command, env=environ, check=True, timeout=SECONDS)
        found = json.loads(result.read_text())
    emit(f"{device}; medians [95 %] of {asked.blocks} blocks")
    for each in found["copies"]:
        emit(copied(each))
    for each in found["counts"]:
        emit(counted(each))
    emit(f"  wanted: a share up to at least {LEAST_SHARE}")
    return verdict(slow(found["copies"]))


def slow(copies: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which copies do not reach the share of a plain one."""
    missed = []
    for each in copies:
        what = f"{each['rows']} rows {each['way']}: share of a plain pinned copy"
        missed += below(what, _share(each), LEAST_SHARE, digits=3)
    return missed


def _share(each: Mapping[str, Any]) -> Interval:
    """Divide a plain copy's time by ours."""
    return median([plain / ours for ours, plain in zip(each["ours"], each["plain"], strict=True)])


def _device(python: str) -> tuple[str, str]:
    """Name the device, or say why there is none."""
    tried = subprocess.run(
        [python, "-c", PROBE], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    last = (tried.stderr.strip().splitlines() or ["no message"])[-1]
    return tried.stdout.strip(), last if tried.returncode else ""


def copied(each: Mapping[str, Any]) -> str:
    """Tell one direction and number of rows."""
    share = _share(each)
    speed = median([each["bytes"] / ours / 1e6 for ours in each["ours"]])
    return (
        f"  {each['rows']:>2} rows {each['way']}, {each['bytes'] / 2**20:.1f} MiB: {speed.told(1)}"
        f" GB/s, {share.told(3)} of a plain pinned copy; {_batched(each)}"
    )


def _batched(each: Mapping[str, Any]) -> str:
    """Tell a batch's time as a share of a loop's."""
    if "batched" not in each:
        return "no batch: this Python has no vLLM"
    pairs = zip(each["batched"], each["loop"], strict=True)
    return (
        f"a batch takes {median([batch / loop for batch, loop in pairs]).told(3)} of a loop's time"
    )


def counted(each: Mapping[str, Any]) -> str:
    """Tell one number of tokens; times are of one step, all layers."""
    pairs = list(zip(each["counted"], each["mapped"], strict=True))
    added = median([(both - mapped) * 1e3 for both, mapped in pairs])
    whole = median([both * 1e3 for both, _ in pairs])
    layers = each["layers"]
    return (
        f"  {each['tokens']:>2} tokens, {each['picks']} picks a layer: split and count"
        f" {whole.told(1)} us a step of {layers} layers, {whole.middle / layers:.2f} us a layer;"
        f" counting adds {added.told(1)} us, {added.middle / STEP_MS / 10:.2f} % of {STEP_MS} ms"
    )


if __name__ == "__main__":
    sys.exit(main())
