"""Where a probe runs: on the CUDA device that is here, or under Triton's interpreter, untimed."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lanewright.places import Places
from lanewright.project import Project
from lanewright.serve.lane import lay_lane

PYTHON = "LANEWRIGHT_GPU_PYTHON"
ASKED = (
    "import numpy, torch, triton; print(torch.cuda.get_device_name());"
    " print(*torch.cuda.get_device_capability(), sep='.')"
)
INSIDE = Path(__file__).parents[1] / "inside"
OVERLAY = Path(__file__).parents[2] / "overlay"
SECONDS = 600.0


@dataclass(frozen=True)
class Machine:
    """What runs a probe.

    Attributes:
        python: Has torch and Triton.
        device: Name of the CUDA device; empty under the interpreter.
        capability: Of the device, as ``9.0``.
        missing: Why there is no device; empty where there is one.
    """

    python: str
    device: str = ""
    capability: str = ""
    missing: str = ""


def machine() -> Machine:
    """Find the device, or the default lane's Python and why there is none."""
    python = os.environ.get(PYTHON, sys.executable)
    try:
        tried = subprocess.run(
            [python, "-c", ASKED], capture_output=True, text=True, check=False, timeout=SECONDS
        )
    except OSError as error:
        return Machine(_lanes_python(), missing=f"{python}: {error.strerror}")
    if not tried.returncode:
        device, capability = tried.stdout.splitlines()[-2:]
        return Machine(python, device, capability)
    last = (tried.stderr.strip().splitlines() or ["no message"])[-1]
    return Machine(_lanes_python(), missing=last)


def _lanes_python() -> str:
    project, places = Project.find(Path.cwd()), Places.of_user()
    return str(lay_lane(project, places, project.upstream.default_lane).env.python)


def run(found: Machine, script: str, result: Path, blocks: int) -> None:
    """Run a script of ``inside/``: ``SCRIPT RESULT BLOCKS``; no blocks under the interpreter.

    Raises:
        subprocess.CalledProcessError: It failed; what it said is on stderr.
    """
    environ = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environ["PYTHONPATH"] = f"{OVERLAY}:{INSIDE}"
    if not found.device:
        environ["TRITON_INTERPRET"] = "1"
    command = [found.python, str(INSIDE / script), str(result), str(blocks if found.device else 0)]
    subprocess.run(command, env=environ, check=True, timeout=SECONDS)
