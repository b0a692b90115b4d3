"""Samples a server's own metrics while it serves: the families that its ``/metrics`` shows."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from expert_bank.metrics import METRICS, Stats
from expert_bank.refused import Refused
from expert_bank.stats_file import read_stats

# A worker writes no sooner than every second.
EVERY = 0.25
Sample = dict[str, float]


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
    """Give every sample of every metric, as ``/metrics`` would show them."""
    found = {}
    for metric in METRICS:
        for labels, value in metric.read(stats):
            pairs = ",".join(
                f'{name}="{label}"' for name, label in zip(metric.labels, labels, strict=True)
            )
            found[f"{metric.name}{{{pairs}}}" if pairs else metric.name] = float(value)
    return found
