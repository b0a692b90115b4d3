"""What the usage counter costs: ``nox -s bench -- counter [LANE] [--blocks N]``; see ``toggled``."""

from benchmarks.toggled import parser, tell, toggled
from lanewright.terminal import emit

# What the interval's upper end must reach, and what the added time must not exceed.
LEAST_SPEED = 0.97
MOST_ADDED = 50


def main() -> None:
    """Run and print one line per batch size."""
    asked = parser(__doc__).parse_args()
    found = toggled("toggle_counter.py", asked, lane=None, engine={"moe_usage_counter": True})
    layers = found["layers"]
    emit(f"counter on / off, decode steps of one engine, {layers} MoE layers; medians [95 %]")
    tell(found)
    emit(
        f"  wanted: speed up to at least {LEAST_SPEED}, added at most {MOST_ADDED} us; picks counted"
        f" in the steps that were on, exactly: {found['picks']}"
    )


if __name__ == "__main__":
    main()
