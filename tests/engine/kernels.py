"""Runs kernel checks of ``inside/``: interpreted by a lane's Python, or on the GPU that is here."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.engine.lane_python import INSIDE, SECONDS, Laid

OVERLAY = Path(__file__).parents[2] / "overlay"
# Which Python has torch for CUDA, where that is not the one that runs pytest.
PYTHON = "LANEWRIGHT_GPU_PYTHON"
PROBE = "import numpy, torch, triton; print(torch.cuda.get_device_name())"

WHERE = [
    pytest.param("interpreter", marks=pytest.mark.engine),
    pytest.param("gpu", marks=pytest.mark.gpu),
]


def failures_of(
    script: str, where: str, laid: Callable[[str], Laid], folder: Path
) -> dict[str, str | None]:
    """By check of a script, why it failed; ``where`` is of ``WHERE``.

    Skips the test where a GPU is needed and none can be used.
    """
    if where == "gpu":
        return on_gpu(script, folder)
    return by_lane(script, laid, folder, environ={"TRITON_INTERPRET": "1"})


def by_lane(
    script: str, laid: Callable[[str], Laid], folder: Path, *, environ: dict[str, str]
) -> dict[str, str | None]:
    """The same, by the lane's Python."""
    result = folder / "result.json"
    laid("0.32.0").run(script, str(result), folder=folder, environ=environ)
    found: dict[str, str | None] = json.loads(result.read_text())
    return found


def on_gpu(script: str, folder: Path) -> dict[str, str | None]:
    """The same, with kernels compiled for the GPU that is here."""
    python, missing = gpu_python()
    if missing:
        pytest.skip(missing)
    result = folder / "result.json"
    environ = {
        **{name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"},
        "PYTHONPATH": f"{OVERLAY}:{INSIDE}",
        "TRITON_CACHE_DIR": str(folder / "triton"),
    }
    command = [python, str(INSIDE / script), str(result)]
    subprocess.run(command, env=environ, check=True, timeout=SECONDS)
    found: dict[str, str | None] = json.loads(result.read_text())
    return found


@cache
def gpu_python() -> tuple[str, str]:
    """The Python that has torch for CUDA, and why it cannot be used, which is empty if it can."""
    python = os.environ.get(PYTHON, sys.executable)
    tried = subprocess.run(
        [python, "-c", PROBE], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    if tried.returncode == 0:
        return python, ""
    why = (tried.stderr.strip().splitlines() or ["no message"])[-1]
    return python, f"needs a CUDA GPU and torch for it ({PYTHON} names its Python): {why}"
