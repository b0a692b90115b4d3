"""Settings for guessers: a trace, whose first requests are learned from."""

from dataclasses import replace
from typing import Any

import numpy as np

from lanewright.residency.guess.setting import Setting
from lanewright.residency.guess.split import learned_requests
from lanewright.residency.oracle import oracle_map
from lanewright.residency.trace import counted
from lanewright.residency.trace_file.recorded import Recorded
from tests.residency import requests, traffic

MIB = 2**20


def asked(found: Recorded, *, hot: int = 0, learn: float = 0.25, **other: Any) -> Setting:  # noqa: ANN401 - fields
    """Learn from the first requests, with so many rows of each layer resident."""
    learned = learned_requests(found, learn)
    boot = oracle_map(counted(found.ids[learned], found.experts), (hot,) * len(found.layers))
    plain = Setting(trace=found, learned=learned, phase="decode", boot=boot, row=MIB)
    return replace(plain, **other)


def in_turn(ids: Any, experts: int, each: int) -> Recorded:  # noqa: ANN401 - arrays and lists
    """Requests of ``each`` tokens, one after the other, decoded token by token."""
    ids = np.asarray(ids)
    number = np.arange(len(ids))
    return requests.recorded(ids, experts, request=number // each, position=number % each)


def several(many: int = 24, each: int = 20, *, layers: int = 3, experts: int = 16) -> Recorded:
    """Skewed traffic of many requests."""
    return in_turn(traffic.matched(many * each, layers, experts, 2), experts, each)
