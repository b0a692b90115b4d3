# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One metric: its name, its labels, and how it is read from stats."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Stats = Mapping[str, Any]
Samples = Iterator[tuple[Sequence[str], float]]
# As vLLM's own metrics have them, so that both can be joined.
COMMON = ("model_name", "engine")


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: Of a counter, with ``_total``.
        kind: Whether it only grows.
        text: Its help.
        own: Names of its own labels, behind those that all have.
        values: Yields each sample: the values of its own labels, and the sample's.
    """

    name: str
    kind: Literal["counter", "gauge"]
    text: str
    own: tuple[str, ...]
    values: Callable[[Stats], Samples]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of all labels."""
        return (*COMMON, *self.own)

    def read(self, stats: Stats) -> Samples:
        """Yield each sample: the labels' values, and its own."""
        common = (stats["served_as"], str(stats["engine"]))
        for labels, value in self.values(stats):
            yield (*common, *labels), value


def one(*path: str) -> Callable[[Stats], Samples]:
    """Read one number; a part that is null has no sample."""

    def read(stats: Stats) -> Samples:
        value: Any = stats
        for key in path:
            value = None if value is None else value[key]
        if value is not None:
            yield (), float(value)

    return read
