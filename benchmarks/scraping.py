"""Samples a server's own metrics while it serves: the families that its ``/metrics`` shows."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from expert_bank.metric import COMMON, Stats
from expert_bank.metrics import METRICS
from expert_bank.refused import Refused
from expert_bank.stats_file import read_stats

# A worker writes no sooner than every second.
EVERY = 0.25
Sample = dict[str, float]
SWAPS = "sum(expert_bank_swaps_total)"
REGRET = 'expert_bank_cold_picks_total, of="served" less of="oracle"'


@contextmanager
def scraped(stats: Path) -> Iterator[list[Sample]]:
    """Sample while the block runs.

    Args:
        stats: The file that a worker tells by; it may not be there yet.

    Yields:
        A list that grows: each time that the file has changed, values by name of the metric, with
        its labels as Prometheus writes them.
    """
    samples: list[Sample] = []
    over = threading.Event()
    thread = threading.Thread(target=_sample, args=(stats, samples, over))
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()


def _sample(stats: Path, samples: list[Sample], over: threading.Event) -> None:
    before = None
    last = False
    while not last:
        # Once more when all is over.
        last = over.wait(EVERY)
        with suppress(Refused):
            found = read_stats(stats)
            if found["time"] != before:
                before = found["time"]
                samples.append(values(found))


def values(stats: Stats) -> Sample:
    """Give every sample of every metric as ``/metrics`` has it, but for the labels that all have.

    Beside them: swaps of all layers, and regret, as one would ask Prometheus for them.
    """
    found = {}
    for metric in METRICS:
        for labels, value in metric.read(stats):
            own = zip(metric.own, labels[len(COMMON) :], strict=True)
            pairs = ",".join(f'{name}="{label}"' for name, label in own)
            found[f"{metric.name}{{{pairs}}}" if pairs else metric.name] = float(value)
    found[SWAPS] = sum(layer["swaps"] for layer in stats["layers"])
    found[REGRET] = stats["regret"]["served"] - stats["regret"]["oracle"]
    return found
