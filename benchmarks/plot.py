"""Draws cold shares and regret over time, and what the server's own metrics said meanwhile."""

from pathlib import Path
from typing import Any

from benchmarks.inside_lane import Facts
from benchmarks.scraping import REGRET, SWAPS

NAMES = {
    "fixed": "boot map, fixed",
    "moving": "map that follows",
    "default": "the same by default settings, replayed",
    "oracle": "oracle map of the phase",
    "lru": "LRU",
    "belady": "Belady",
}
REGRETS = {
    **{name: NAMES[name] for name in ("fixed", "moving", "default")},
    "least": "best of window",
}
STYLE: dict[str, dict[str, Any]] = {
    "fixed": {"color": "#999999"},
    "moving": {"color": "#d62728", "linewidth": 2},
    "default": {"color": "#ff7f0e"},
    "oracle": {"color": "#1f77b4"},
    "lru": {"color": "#2ca02c", "linestyle": ":"},
    "belady": {"color": "#9467bd", "linestyle": ":"},
    "least": {"color": "#1f77b4", "linestyle": ":"},
}
SHARE = "expert_bank_cold_share"
OF = {"served": "moving", "boot": "fixed", "oracle": "oracle"}
# By their labels.
TOTALS = {"regret, picks": (REGRET, "#d62728"), "swaps": (SWAPS, "#1f77b4")}


def plotted(series: Facts, file: Path) -> None:
    """Draw, one below the other: cold shares, regret and swaps by window; metrics as scraped.

    Args:
        series: As ``switch_series.series`` has it.
        file: Its suffix says which kind.
    """
    import matplotlib as mpl  # noqa: PLC0415 - a second that only a plot pays

    mpl.use("Agg")
    # The same bytes for the same numbers.
    mpl.rcParams["svg.hashsalt"] = "lanewright"
    from matplotlib import pyplot as plt  # noqa: PLC0415 - the same

    figure, every = plt.subplots(
        5, 1, sharex=True, height_ratios=(3, 2, 1, 2, 1.5), figsize=(9, 11), layout="constrained"
    )
    shares, regrets, swaps, gauges, totals = every
    tokens = [series["window"] * (number + 0.5) for number in range(len(series["swaps"]))]
    for name, label in NAMES.items():
        shares.plot(tokens, series["cold"][name], label=label, **STYLE[name])
    shares.axhline(series["null"], color="black", linestyle="--", label="map drawn at random")
    shares.set_ylim(0, 1.5 * max(series["null"], *series["cold"]["fixed"]))
    shares.set_ylabel("cold share of picks")
    for name, label in REGRETS.items():
        regrets.plot(series["regret"]["token"], series["regret"][name], label=label, **STYLE[name])
    regrets.axhline(0, color="black", linewidth=0.5)
    regrets.set_ylim(top=1.4 * regrets.get_ylim()[1])
    regrets.set_ylabel("regret to the oracle map,\npicks a token")
    swaps.bar(tokens, series["swaps"], width=series["window"] * 0.9, color="#d62728")
    swaps.set_ylabel("swaps")
    for of, style in OF.items():
        name = f'{SHARE}{{of="{of}"}}'
        gauges.plot(*_points(series, name), label=f'of="{of}"', marker=".", **STYLE[style])
    gauges.set_ylim(0, 1.3 * gauges.get_ylim()[1])
    gauges.set_ylabel(f"/metrics:\n{SHARE}")
    for axes, (label, (name, color)) in zip((totals, totals.twinx()), TOTALS.items(), strict=True):
        axes.plot(*_points(series, name), color=color, marker=".")
        axes.set_ylabel(f"{label} so far", color=color)
    totals.set_xlabel("tokens served")
    for axes in (shares, gauges):
        axes.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
    for axes in (shares, regrets, gauges):
        axes.legend(loc="upper left", ncols=3, fontsize="small")
    for axes in every:
        for end in series["ends"][:-1]:
            axes.axvline(end, color="black", linewidth=0.5)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def _points(series: Facts, name: str) -> tuple[list[float], list[float]]:
    """Tokens and values of a metric, as they were scraped."""
    found = series["metrics"][name]
    return [token for token, _ in found], [value for _, value in found]
