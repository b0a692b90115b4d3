"""What the two-bank costs: ``nox -s bench -- banks [LANE] [--blocks N]``; see ``toggled``.

Once with each kind of cold rows; the map stays as it is while steps are timed. Then rows are
swapped before every step, to tell what a barrier takes and moves. Where a speed is not reached,
it ends with exit code 5.
"""

import sys

from benchmarks.bounds import verdict
from benchmarks.inside_lane import Facts
from benchmarks.toggled import costs, parser, toggled
from lanewright.errors import ExitCode
from lanewright.terminal import emit

LANE = "cpu-twobank"
MODES = ("mirror", "exclusive")
# What the upper ends of the intervals must reach, of the median block and of all steps summed.
LEAST_SPEED = 0.95


def main() -> ExitCode:
    """Run, and print for each mode one line per batch size and one of the swaps."""
    asked = parser(__doc__).parse_args()
    missed: list[str] = []
    for mode in MODES:
        found = toggled("toggle_banks.py", asked, lane=LANE, engine={"moe_cold_rows": mode})
        emit(
            f"two banks, {mode} / all resident, decode steps of one engine, {found['layers']} MoE"
            f" layers, hot rows {found['hot_rows']} of {found['experts']}; medians [95 %]"
        )
        for cost in costs(found):
            emit(cost.told())
        emit(f"  {_swaps(found)}")
        cold = found["cold_picks"] / found["picks"]
        emit(
            f"  wanted: both speeds up to at least {LEAST_SPEED}; picks counted in the steps that were"
            f" on, exactly: {found['picks']}, {cold:.1%} of them cold; all answers were the same"
        )
        missed += [f"{mode}, {each}" for each in slow(found)]
    return verdict(missed)


def slow(found: Facts) -> list[str]:
    """Say which speeds are not reached."""
    return [each for cost in costs(found) for each in cost.slow(LEAST_SPEED)]


def _swaps(found: Facts) -> str:
    """Tell what barriers took."""
    done = found["swapped"]
    each = done["seconds"] / done["swaps"]
    return (
        f"{done['swaps']} swaps at {done['barriers']} barriers: {each * 1e6:.0f} us and"
        f" {done['bytes'] / done['swaps']:.0f} bytes a swap, {done['bytes'] / done['seconds'] / 1e6:.0f}"
        f" MB/s, verified; {done['seconds'] / done['barriers'] * 1e3:.2f} ms a barrier; a row has"
        f" {found['row_bytes']} bytes"
    )


if __name__ == "__main__":
    sys.exit(main())
