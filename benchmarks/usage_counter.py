"""What the usage counter costs: ``nox -s bench -- counter [LANE] [--blocks N]``; see ``toggled``.

Where a bound is not kept, it ends with exit code 5.
"""

import sys

from benchmarks.bounds import above, verdict
from benchmarks.inside_lane import Facts
from benchmarks.toggled import costs, parser, toggled
from lanewright.errors import ExitCode
from lanewright.terminal import emit

# What the upper ends of the speed's intervals must reach, of the median block and of all steps
# summed; and what the lower end of the added microseconds' must not exceed.
LEAST_SPEED = 0.97
MOST_ADDED = 50


def main() -> ExitCode:
    """Run and print one line per batch size."""
    asked = parser(__doc__).parse_args()
    found = toggled("toggle_counter.py", asked, lane=None, engine={"moe_usage_counter": True})
    layers = found["layers"]
    emit(f"counter on / off, decode steps of one engine, {layers} MoE layers; medians [95 %]")
    for cost in costs(found):
        emit(cost.told())
    emit(
        f"  wanted: both speeds up to at least {LEAST_SPEED}, added down to at most {MOST_ADDED} us; picks counted"
        f" in the steps that were on, exactly: {found['picks']}"
    )
    return verdict(costly(found))


def costly(found: Facts) -> list[str]:
    """Say which speeds are not reached, and where more is added than may be."""
    missed = []
    for cost in costs(found):
        missed += cost.slow(LEAST_SPEED)
        what = f"batch {cost.batch}: microseconds added a layer a step"
        missed += above(what, cost.added, MOST_ADDED)
    return missed


if __name__ == "__main__":
    sys.exit(main())
