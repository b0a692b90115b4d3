"""What coldness costs: ``nox -s bench -- price [LANE] [--blocks N]``, cold rows read from a disk.

One engine of the trained model with rows of a megabyte and more, hot ones locked in memory, cold ones
read from a file at each step. Decode steps of one user are timed on traffic of the kind that the boot
map was measured on, and of another kind under that map and under the one that following came to, arms
in turns. No map moves while it is timed. What is timed is neither what the boot map was measured on
nor what was followed, but other text with other seeds. It ends with exit code 5 where the moving map does
not surely win back half of what the switch cost, and where that cost may be none.
"""

import argparse
import statistics
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks import price_won
from benchmarks.bounds import verdict
from benchmarks.inside_lane import Facts, run_inside
from benchmarks.intervals import median, ratio_of_sums
from benchmarks.price_estimate import estimate
from expert_bank.pace import Pace
from lanewright.errors import ExitCode
from lanewright.terminal import emit

LANE, RECIPE = "cpu-follow", "qwen3-moe-trained-wide"
STEPS = 48
PACE = Pace(every=16)
# Of the held-out text: its kind, and from where to where.
# In this direction the trained model loses most.
LEARN, FOLLOWED = ("english", 0, 0.5), ("python", 0, 0.5)
TIMED = {"matched": ("english", 0.5, 1), "switched": ("python", 0.5, 1)}
ARMS = ("matched", "fixed", "moved")
NAMES = {
    "matched": "matched traffic, boot map",
    "fixed": "switched traffic, boot map",
    "moved": "switched traffic, map that followed",
}


def main() -> ExitCode:
    """Measure and print a line for each arm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lane", nargs="?", default=LANE)
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--tokens", type=int, default=8 * 1024, help="that the map follows")
    parser.add_argument("--seed", type=int, default=20261201)
    asked = parser.parse_args()
    found = measured(asked)
    for line in told(found):
        emit(line)
    return verdict(price_won.missed(found["blocks"]))


def measured(asked: argparse.Namespace) -> Facts:
    """Run both engines."""
    spec = {
        "learn": [*LEARN, asked.tokens],
        "followed": [*FOLLOWED, asked.tokens],
        "kinds": TIMED,
        "follow": asdict(PACE),
        "blocks": asked.blocks,
        "steps": STEPS,
        "seed": asked.seed,
    }
    engine = {"enforce_eager": True, "moe_cold_rows": "file"}
    with tempfile.TemporaryDirectory() as folder:
        script = "cold_price.py"
        return run_inside(script, asked.lane, engine, spec, Path(folder), recipe=RECIPE)


def told(found: Facts) -> list[str]:
    """Write what was measured, beside the arithmetic."""
    blocks, row, layers = found["blocks"], found["row_bytes"][0], found["layers"]
    lines = [
        (
            f"decode steps of one user, {layers} MoE layers, {found['hot_rows'][0]} of {found['experts']}"
            f" experts hot and locked in memory, the others' rows of {row} bytes read from a file; {len(blocks)}"
            f" blocks of {STEPS} steps an arm; the map followed {found['swaps']} swaps and"
            " stands still while it is timed"
        )
    ]
    for arm in ARMS:
        seconds = [block[arm]["seconds"] / STEPS for block in blocks]
        read = sum(block[arm]["read"] for block in blocks) / (STEPS * len(blocks))
        cold = sum(block[arm]["cold"] for block in blocks) / (STEPS * len(blocks))
        lines.append(
            f"  {NAMES[arm]}: {1 / statistics.median(seconds):.1f} tokens/s, {median(seconds).told(4)}"
            f" s a step; {cold:.2f} cold picks, {read / 2**20:.2f} MiB read a step, {cold * row / 2**20:.2f}"
            " MiB by arithmetic"
        )
    speeds = {
        arm: ratio_of_sums([(b["fixed"]["seconds"], b[arm]["seconds"]) for b in blocks])
        for arm in ("matched", "moved", "self")
    }
    lines.append(
        f"  speed against the switched traffic's under the boot map: matched {speeds['matched'].told(3)},"
        f" moved {speeds['moved'].told(3)}, self control {speeds['self'].told(3)}"
    )
    lines.append(f"  {price_won.told(blocks)}")
    return [*lines, f"  {estimate(found, PACE)}"]


if __name__ == "__main__":
    sys.exit(main())
