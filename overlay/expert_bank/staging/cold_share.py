# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which share of the picks is cold, as the counters have it."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from expert_bank.counter import PickCounter
from expert_bank.refused import Refused
from expert_bank.table_layout import COLD

# Tokens between two readings, each of which waits for the device.
EVERY = 1024
# Tokens behind which an older reading counts half.
HALF_LIFE = 8192


class ColdShare:
    """The share over the layers that can stage, read again where enough tokens came.

    Attributes:
        value: Until there is a reading, what traffic that picks every expert alike has.
        watchers: Called behind each reading; the device is at rest then.
    """

    def __init__(self, counter: PickCounter, layers: list[int], null: float) -> None:
        self.value = null
        self.watchers: list[Callable[[], None]] = []
        self._counter = counter
        self._layers = layers
        self._tokens = 0
        self._read: NDArray[np.int64] = np.zeros(counter.banks, np.int64)
        self._picks = np.zeros(counter.banks)

    def now(self) -> float:
        """Give the share, between 0 and 1."""
        tokens = self._counter.tokens - self._tokens
        # What cannot be told any more stays what it was; a forward that asks goes on.
        if tokens >= EVERY and self._layers and not self._counter.inexact:
            with suppress(Refused):
                self._take(tokens)
            for watcher in self.watchers:
                watcher()
        return self.value

    def _take(self, tokens: int) -> None:
        picks = self._counter.by_bank()[self._layers].sum(axis=(0, 2))
        self._picks = self._picks * 0.5 ** (tokens / HALF_LIFE) + (picks - self._read)
        self._read, self._tokens = picks, self._counter.tokens
        if whole := self._picks.sum():
            self.value = float(self._picks[COLD] / whole)
