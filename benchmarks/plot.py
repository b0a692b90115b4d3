"""Draws cold shares over time."""

from pathlib import Path
from typing import Any

from benchmarks.inside_lane import Facts

NAMES = {
    "fixed": "boot map, fixed",
    "moving": "map that follows",
    "oracle": "oracle map of the phase",
    "lru": "LRU",
    "belady": "Belady",
}
STYLE: dict[str, dict[str, Any]] = {
    "fixed": {"color": "#999999"},
    "moving": {"color": "#d62728", "linewidth": 2},
    "oracle": {"color": "#1f77b4"},
    "lru": {"color": "#2ca02c", "linestyle": ":"},
    "belady": {"color": "#9467bd", "linestyle": ":"},
}


def plotted(series: Facts, file: Path) -> None:
    """Draw the cold shares by window, and below them the swaps.

    Args:
        series: As ``traffic_switch.series`` has it.
        file: Its suffix says which kind.
    """
    import matplotlib as mpl  # noqa: PLC0415 - a second that only a plot pays

    mpl.use("Agg")
    # The same bytes for the same numbers.
    mpl.rcParams["svg.hashsalt"] = "lanewright"
    from matplotlib import pyplot as plt  # noqa: PLC0415 - the same

    figure, (shares, swaps) = plt.subplots(
        2, 1, sharex=True, height_ratios=(3, 1), figsize=(9, 5), layout="constrained"
    )
    tokens = [series["window"] * (number + 0.5) for number in range(len(series["swaps"]))]
    for name, label in NAMES.items():
        shares.plot(tokens, series["cold"][name], label=label, **STYLE[name])
    shares.axhline(series["null"], color="black", linestyle="--", label="map drawn at random")
    shares.set_ylim(0, 1.35 * max(series["null"], *series["cold"]["fixed"]))
    shares.set_ylabel("cold share of picks")
    shares.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
    shares.legend(loc="upper left", ncols=3, fontsize="small")
    swaps.bar(tokens, series["swaps"], width=series["window"] * 0.9, color="#d62728")
    swaps.set_ylabel("swaps")
    swaps.set_xlabel("tokens served")
    for axes in (shares, swaps):
        for end in series["ends"][:-1]:
            axes.axvline(end, color="black", linewidth=0.5)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
