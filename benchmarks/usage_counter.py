"""What the usage counter costs: ``nox -s bench [-- LANE] [--blocks N]``.

One engine, eager, decode steps only. The counter is switched at random all along, so that drift and
noise fall on both sides alike; two of three timed steps are off, and their ratio to each other is
the self control. Each ratio is the median over blocks, with the 95 % interval that the order
statistics give.
"""

import argparse
import json
import math
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewright.guarded import ended
from lanewright.places import Places
from lanewright.project import Project
from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import child, watch
from lanewright.serve.lane import lay_lane
from lanewright.serve.model import ensure_model
from lanewright.terminal import emit

SCRIPT = Path(__file__).parent / "inside" / "toggle_counter.py"
BATCHES = (1, 8, 16)
STEP_SECONDS = 900.0
# What the interval's upper end must reach, and what the added time must not exceed.
LEAST_SPEED = 0.97
MOST_ADDED = 50
# Two-sided 95 %.
Z = 1.96


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


def main() -> None:
    """Run and print one line per batch size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lane", nargs="?")
    parser.add_argument("--blocks", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=20261130)
    asked = parser.parse_args()
    project, places = Project.find(Path.cwd()), Places.of_user()
    lane = lay_lane(project, places, asked.lane or project.upstream.default_lane)
    model = ensure_model(places, lane.env, lane.recipe)
    wanted = {**lane.engine, "enforce_eager": True, "moe_usage_counter": True}
    with tempfile.TemporaryDirectory() as folder:
        spec, result = Path(folder, "spec.json"), Path(folder, "result.json")
        spec.write_text(
            json.dumps(
                {
                    "model": str(model),
                    "engine": engine_arguments(lane.env, wanted, lane.device),
                    "blocks": asked.blocks,
                    "batches": BATCHES,
                    "seed": asked.seed,
                    "result": str(result),
                }
            )
        )
        environ = {**lane.env.environ(), "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
        command = [str(lane.env.python), str(SCRIPT), str(spec)]
        with child("bench", command, environ=environ, log=Path(folder, "log")) as running:
            if status := watch(running, seconds=STEP_SECONDS):
                raise running.died(ended(status))
        found = json.loads(result.read_text())
    layers = found["layers"]
    emit(f"counter on / off, decode steps of one engine, {layers} MoE layers; medians [95 %]")
    for batch, blocks in found["times"].items():
        speed = median([block["off"] / block["on"] for block in blocks])
        control = median([block["off"] / block["self"] for block in blocks])
        added = median([(block["on"] - block["off"]) / layers * 1e6 for block in blocks])
        step = statistics.median(block["off"] for block in blocks) * 1e3
        emit(
            f"  batch {batch:>2}: {len(blocks)} blocks of 3 timed steps; speed {speed.told(4)}; self"
            f" control {control.told(4)}; added {added.told(1)} us a layer a step; step off"
            f" {step:.2f} ms"
        )
    emit(
        f"  wanted: speed up to at least {LEAST_SPEED}, added at most {MOST_ADDED} us; picks counted"
        f" in the steps that were on, exactly: {found['picks']}"
    )


if __name__ == "__main__":
    main()
