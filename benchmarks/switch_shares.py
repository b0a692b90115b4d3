"""What a switch of traffic came to: cold shares by phase and over time."""

from dataclasses import dataclass

import numpy as np

from benchmarks.inside_lane import Facts
from lanewright.residency.null import null_share
from lanewright.residency.trace import Map, Picks, Trace, by_window

WINDOW = 1024
# Of the oracle map's cold share, in the last third of a phase.
MOST = 1.3
PHASES = ("matched", "switched", "back")


@dataclass(frozen=True)
class Served:
    """What an engine served.

    Attributes:
        ids: int16[T, L, k].
        boot: bool[L, E].
        rows: H of each layer.
        ends: Behind which token each phase ends.
        facts: All that the script wrote.
    """

    ids: Trace
    boot: Map
    rows: list[int]
    ends: list[int]
    facts: Facts


def parts(served: Served) -> list[Trace]:
    """The phases' picks."""
    return np.split(served.ids, served.ends[:-1])


def share(served: Served, cold: Picks, phase: int, *, last: bool = False) -> float:
    """Cold share of a phase, or of its last third."""
    start, stop = ([0, *served.ends])[phase], served.ends[phase]
    start = stop - (stop - start) // 3 if last else start
    return float(cold[start:stop].mean() / served.ids.shape[2])


def table(served: Served, cold: dict[str, Picks]) -> list[str]:
    """Write the cold shares by phase."""
    layers, experts = served.boot.shape
    swaps = [
        sum(len(b["swaps"]) for b in served.facts["barriers"] if start < b["token"] <= stop)
        for start, stop in zip([0, *served.ends], served.ends, strict=False)
    ]
    null = null_share(experts, served.rows)
    lines = [
        (
            f"cold share of picks, {layers} MoE layers, {served.rows[0]} of {experts} experts hot; a"
            f" map drawn at random: {null:.1%}"
        ),
        "phase       tokens   fixed  moving  last 1/3  oracle     LRU  Belady  swaps",
    ]
    for phase, name in enumerate(PHASES):
        shares = [share(served, cold["fixed"], phase), share(served, cold["moving"], phase)]
        end = share(served, cold["moving"], phase, last=True)
        others = [share(served, cold[each], phase) for each in ("oracle", "lru", "belady")]
        tokens = len(parts(served)[phase])
        lines.append(
            f"{name:<10}{tokens:>8}{shares[0]:>8.1%}{shares[1]:>8.1%}{end:>10.1%}"
            + "".join(f"{each:>8.1%}" for each in others)
            + f"{swaps[phase]:>7}"
        )
    follows = served.facts["follows"]
    lines.append(
        f"  the replay of {sum(swaps)} swaps at {len(served.facts['barriers'])} barriers is the"
        f" engine's, swap by swap, and so are its {served.facts['cold_picks']} cold picks; the guard"
        f" fell back {follows['fallbacks']} times and came back {follows['returns']}; deciding took"
        f" {follows['seconds']:.3f} s"
    )
    return lines


def far(served: Served, cold: dict[str, Picks]) -> list[str]:
    """Say in which phases the moving map does not come near enough to the oracle map."""
    missed = []
    for phase, name in enumerate(PHASES):
        ours, best = (share(served, cold[each], phase, last=True) for each in ("moving", "oracle"))
        if ours > MOST * best:
            missed.append(f"{name}: {ours:.1%} cold in the last third, oracle map {best:.1%}")
    return missed


def series(served: Served, cold: dict[str, Picks]) -> Facts:
    """What is plotted: cold shares by window, and swaps."""
    tokens, layers, picks = served.ids.shape
    sizes = np.diff([*range(0, tokens, WINDOW), tokens]) * layers * picks
    token = [each["token"] for each in served.facts["barriers"] for _ in each["swaps"]]
    return {
        "window": WINDOW,
        "ends": served.ends,
        "phases": PHASES,
        "null": null_share(served.boot.shape[1], served.rows),
        "swaps": np.histogram(token, [*range(0, tokens, WINDOW), tokens])[0].tolist(),
        "cold": {
            name: (by_window(each, WINDOW).sum(axis=1) / sizes).round(5).tolist()
            for name, each in cold.items()
        },
    }
