"""What a switch of traffic came to over time: what is plotted."""

from collections.abc import Sequence

import numpy as np

from benchmarks.inside_lane import Facts
from benchmarks.scraping import REGRET, SWAPS, Sample
from benchmarks.switch_outcome import PHASES, Outcome, Served
from lanewright.residency.null import null_share
from lanewright.residency.regret import oracle_by_window, regret
from lanewright.residency.trace import by_window

WINDOW = 1024
REGRETS = ("fixed", "moving", "default")
# Of the server's own metrics; what is labelled is named as Prometheus writes it.
TOKENS = "expert_bank_tokens_total"
METRICS = (
    'expert_bank_cold_share{of="served"}',
    'expert_bank_cold_share{of="boot"}',
    'expert_bank_cold_share{of="oracle"}',
    REGRET,
    SWAPS,
)


def series(served: Served, found: Outcome, samples: Sequence[Sample]) -> Facts:
    """Give cold shares, swaps and regret by window, and what was scraped meanwhile.

    Regret is in picks a token, all layers together: those that are cold and would not be under the
    oracle map of the phase; ``least`` has the same of the best map for each window alone. Its windows
    begin with each phase.
    """
    tokens, layers, picks = served.ids.shape
    edges = [*range(0, tokens, WINDOW), tokens]
    sizes = np.diff(edges) * layers * picks
    moved = [token for token, *_ in found.swaps["moving"]]
    return {
        "window": WINDOW,
        "ends": served.ends,
        "phases": PHASES,
        "null": null_share(served.boot.shape[1], served.rows),
        "swaps": np.histogram(moved, edges)[0].tolist(),
        "cold": {
            name: (by_window(each, WINDOW).sum(axis=1) / sizes).round(5).tolist()
            for name, each in found.cold.items()
        },
        "regret": regrets(served, found),
        "metrics": {
            name: [[each[TOKENS], round(each[name], 5)] for each in samples if name in each]
            for name in METRICS
        },
    }


def regrets(served: Served, found: Outcome) -> dict[str, list[float]]:
    """Give regret by window, phase after phase, and at which ``token`` each window has its middle."""
    told: dict[str, list[float]] = {name: [] for name in ("token", *REGRETS, "least")}
    experts = served.boot.shape[1]
    for phase, (start, stop) in enumerate(served.spans):
        ids, best = served.ids[start:stop], served.best(phase)
        edges = np.array([*range(start, stop, WINDOW), stop])
        sizes = np.diff(edges)
        told["token"] += ((edges[:-1] + edges[1:]) / 2).tolist()
        for name in REGRETS:
            more = regret(found.cold[name][start:stop], ids, best, WINDOW)
            told[name] += (more / sizes).round(5).tolist()
        oracle = by_window(found.cold["oracle"][start:stop], WINDOW).sum(axis=1)
        less = oracle_by_window(ids, experts, served.rows, WINDOW) - oracle
        told["least"] += (less / sizes).round(5).tolist()
    return told
