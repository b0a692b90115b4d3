"""What a feature costs: decode steps of one engine, in which it is switched on and off at random.

Drift and noise so fall on both sides alike. Two of three timed steps are off, and their ratio to
each other is the self control. The speed is told twice: as the median over blocks, which a few slow
steps do not move, and as the ratio of all steps' sums, which they do; see ``intervals``.
"""

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bounds import below
from benchmarks.inside_lane import Facts, run_inside
from benchmarks.intervals import Interval, median, ratio_of_sums

BATCHES = (1, 8, 16)


@dataclass(frozen=True)
class Cost:
    """What a feature costs in the steps of one batch size.

    Attributes:
        batch: Sequences a step.
        blocks: How many were timed.
        speed: Median over blocks of the time off by that on.
        summed: Time of all steps off by that of all on.
        control: Median over blocks of the time off by the other time off.
        added: Median over blocks of the microseconds added a layer.
        step: Median milliseconds of a step that is off.
    """

    batch: str
    blocks: int
    speed: Interval
    summed: Interval
    control: Interval
    added: Interval
    step: float

    def told(self) -> str:
        """Write it for people."""
        return (
            f"  batch {self.batch:>2}: {self.blocks} blocks of 3 timed steps; speed"
            f" {self.speed.told(4)}, of all steps summed {self.summed.told(4)}; self control"
            f" {self.control.told(4)}; added {self.added.told(1)} us a layer a step; step off"
            f" {self.step:.2f} ms"
        )

    def slow(self, least: float) -> list[str]:
        """Say where the speed does not reach a least, by its median or summed."""
        batch = f"batch {self.batch}"
        return [
            *below(f"{batch}: speed", self.speed, least),
            *below(f"{batch}: speed of all steps summed", self.summed, least),
        ]


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
    spec = {"blocks": asked.blocks, "batches": BATCHES, "seed": asked.seed, "busy": asked.busy}
    with tempfile.TemporaryDirectory() as folder:
        wanted = {"enforce_eager": True, **engine}
        return run_inside(script, asked.lane or lane, wanted, spec, Path(folder))


def costs(found: Facts) -> list[Cost]:
    """Work out what was measured, by batch size.

    Args:
        found: ``layers``, and ``times``: seconds by arm of each block, by batch size.
    """
    return [_cost(batch, blocks, found["layers"]) for batch, blocks in found["times"].items()]


def _cost(batch: str, blocks: Sequence[Mapping[str, float]], layers: int) -> Cost:
    return Cost(
        batch=batch,
        blocks=len(blocks),
        speed=median([block["off"] / block["on"] for block in blocks]),
        summed=ratio_of_sums([(block["off"], block["on"]) for block in blocks]),
        control=median([block["off"] / block["self"] for block in blocks]),
        added=median([(block["on"] - block["off"]) / layers * 1e6 for block in blocks]),
        step=statistics.median(block["off"] for block in blocks) * 1e3,
    )
