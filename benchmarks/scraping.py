"""Samples a server's own metrics while it serves: the families that its ``/metrics`` shows."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from expert_bank.metrics import COMMON, METRICS, Stats
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
        A list that grows: each time that the file has changed, ``values``.
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
    """Give every metric as ``/metrics`` would show it, all layers together.

    Labels that name the server are left out: there is one.
    """
    found: dict[str, float] = {}
    for metric in METRICS:
        for labels, value in metric.read(stats):
            named = zip(metric.labels, labels, strict=True)
            pairs = ",".join(
                f'{name}="{label}"' for name, label in named if name not in (*COMMON, "layer")
            )
            name = f"{metric.name}{{{pairs}}}" if pairs else metric.name
            found[name] = found.get(name, 0.0) + float(value)
    return found
