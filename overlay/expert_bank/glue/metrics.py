# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Our metrics beside vLLM's own, on the server's ``/metrics``.

vLLM counts in the process that answers requests; our numbers are another's, the worker's. They come
through the stats file, which is read when somebody asks.
"""

import os
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from prometheus_client import REGISTRY, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from expert_bank.config import SERVER, STATS, stats_place
from expert_bank.metrics import AGE, METRICS
from expert_bank.refused import Refused
from expert_bank.server_name import name_server
from expert_bank.stats_file import read_stats

AGE_TEXT = (
    "Seconds since the worker told how the experts' map does; it does so between forwards. +Inf"
    " while there is nothing of this server's own."
)


@cache  # a process that was forked from one has its registry
def join() -> None:
    """Join what this process shows at ``/metrics``, if the run has a stats file; once a process.

    A server's first process makes up its name here, before it starts the others, which inherit it:
    vLLM starts its engines, workers and API servers by ``multiprocessing``, or as Ray's actors. No
    server shows the numbers of another's worker, or of an earlier one's.
    """
    if not os.environ.get(STATS):
        return
    name_server()
    try:
        place = stats_place()
    except Refused:
        return  # the worker says so, where it ends the start
    if place is None:
        return
    REGISTRY.register(FileCollector())
    multiprocess.MultiProcessCollector = SharedCollector


class FileCollector:
    """Has the numbers of the stats file for ``prometheus_client``, as they are when it asks."""

    def describe(self) -> Iterator[Any]:
        """Name the metrics; the registry then does not ask for them while it is made."""
        yield from (_family(each.name, each.kind, each.text, each.labels) for each in METRICS)
        yield _family(AGE, "gauge", AGE_TEXT, ())

    def collect(self) -> Iterator[Any]:
        """Yield every metric; only the age while the file is missing, broken or another server's."""
        age = _family(AGE, "gauge", AGE_TEXT, ())
        try:
            stats = self._read()
        except Refused:
            age.add_metric((), float("inf"))
            yield age
            return
        age.add_metric((), max(0.0, time.time() - stats["time"]))
        yield age
        for metric in METRICS:
            family = _family(metric.name, metric.kind, metric.text, metric.labels)
            for labels, value in metric.read(stats):
                family.add_metric(labels, value)
            yield family

    @staticmethod
    def _read() -> dict[str, Any]:
        place = stats_place()
        if place is None:
            raise Refused(f"{STATS} is not set")
        stats = read_stats(place)
        if stats["server"] != os.environ.get(SERVER):
            raise Refused(f"stats file {place} is another server's")
        return stats


class SharedCollector(multiprocess.MultiProcessCollector):
    """What several API servers wrote into a folder, and our numbers beside it.

    With several of them (``PROMETHEUS_MULTIPROC_DIR``) each answers from such a collector, made at
    every request, and shows nothing of its process's own registry.
    """

    def collect(self) -> Iterator[Any]:
        """Yield theirs and ours."""
        yield from super().collect()
        yield from FileCollector().collect()


def _family(name: str, kind: str, text: str, labels: tuple[str, ...]) -> Any:  # noqa: ANN401 - untyped there
    family = CounterMetricFamily if kind == "counter" else GaugeMetricFamily
    return family(name, text, labels=labels)
