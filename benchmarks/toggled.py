"""What a feature costs: decode steps of one engine, in which it is switched on and off at random.

Drift and noise so fall on both sides alike. Two of three timed steps are off, and their ratio to
each other is the self control. Each ratio is the median over blocks, with the 95 % interval that
the order statistics give.
"""

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.guarded import ended
from lanewright.places import Places
from lanewright.project import Project
from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import child, watch
from lanewright.serve.lane import lay_lane
from lanewright.serve.model import ensure_model
from lanewright.terminal import emit

INSIDE = Path(__file__).parent / "inside"
BATCHES = (1, 8, 16)
STEP_SECONDS = 900.0
# Two-sided 95 %.
Z = 1.96
Facts = dict[str, Any]


@dataclass(frozen=True)
class Median:
    """A median and its 95 % interval."""

    middle: float
    low: float
    high: float

    def told(self, digits: int) -> str:
        """Write it for people."""
        low, middle, high = (f"{each:.{digits}f}" for each in (self.low, self.middle, self.high))
        return f"{middle} [{low}, {high}]"


def median(values: Sequence[float]) -> Median:
    """Estimate the median; its interval assumes nothing of the values' distribution."""
    ordered = sorted(values)
    reach = Z * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + reach))
    return Median(statistics.median(ordered), ordered[low], ordered[high])


def parser(description: str | None) -> argparse.ArgumentParser:
    """Make what reads the arguments of such a benchmark."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("lane", nargs="?")
    made.add_argument("--blocks", type=int, default=1500)
    made.add_argument("--seed", type=int, default=20261130)
    made.add_argument(
        "--busy", action="store_true", help="measure processor time: on a machine that others use"
    )
    return made


def toggled(
    script: str, asked: argparse.Namespace, *, lane: str | None, engine: Mapping[str, object]
) -> Facts:
    """Lay a lane, boot it eagerly, and time its steps.

    Args:
        script: Of ``inside/``, that knows the switch.
        asked: Lane, blocks and seed.
        lane: Where none is asked for; None for the project's default.
        engine: Arguments that the switch needs, beside the lane's.

    Returns:
        What the script wrote: ``times`` by batch size, ``layers``, and facts of its own.
    """
    project, places = Project.find(Path.cwd()), Places.of_user()
    laid = lay_lane(project, places, asked.lane or lane or project.upstream.default_lane)
    model = ensure_model(places, laid.env, laid.recipe)
    wanted = {**laid.engine, "enforce_eager": True, **engine}
    with tempfile.TemporaryDirectory() as folder:
        spec, result = Path(folder, "spec.json"), Path(folder, "result.json")
        spec.write_text(
            json.dumps(
                {
                    "model": str(model),
                    "engine": engine_arguments(laid.env, wanted, laid.device),
                    "blocks": asked.blocks,
                    "batches": BATCHES,
                    "seed": asked.seed,
                    "busy": asked.busy,
                    "result": str(result),
                }
            )
        )
        given = laid.env.environ()
        environ = {
            **given,
            "PYTHONPATH": f"{given['PYTHONPATH']}:{INSIDE}",
            "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
        }
        command = [str(laid.env.python), str(INSIDE / script), str(spec)]
        with child("bench", command, environ=environ, log=Path(folder, "log")) as running:
            if status := watch(running, seconds=STEP_SECONDS):
                raise running.died(ended(status))
        found: Facts = json.loads(result.read_text())
    return found


def tell(found: Facts) -> None:
    """Print one line per batch size."""
    layers = found["layers"]
    for batch, blocks in found["times"].items():
        speed = median([block["off"] / block["on"] for block in blocks])
        control = median([block["off"] / block["self"] for block in blocks])
        added = median([(block["on"] - block["off"]) / layers * 1e6 for block in blocks])
        step = statistics.median(block["off"] for block in blocks) * 1e3
        summed = sum(block["off"] for block in blocks) / sum(block["on"] for block in blocks)
        emit(
            f"  batch {batch:>2}: {len(blocks)} blocks of 3 timed steps; speed {speed.told(4)}, of all"
            f" steps summed {summed:.4f}; self control {control.told(4)}; added {added.told(1)} us a layer a step; step off"
            f" {step:.2f} ms"
        )
