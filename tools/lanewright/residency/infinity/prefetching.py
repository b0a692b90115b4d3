"""Prefetches that wait for the link: the most urgent first, and few on it at once."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from expert_bank.eams.prediction import Shares
from lanewright.residency.infinity.buffer import Buffer
from lanewright.residency.infinity.prediction import prefetch_priority
from lanewright.residency.link.queue import Link


class Prefetching:
    """What a prediction asks for, until the next one asks for something else.

    Attributes:
        sent: Rows that were prefetched.
    """

    def __init__(self, buffer: Buffer, link: Link, row: int, ahead: int) -> None:
        self.sent = 0
        self._buffer = buffer
        self._link = link
        self._row = row
        self._ahead = ahead
        self._waiting: deque[int] = deque()
        self._on_link: deque[float] = deque()
        self._asked = 0.0
        self._urgent: NDArray[np.float64] = np.zeros(0)

    def ask(self, shares: Shares | None, layer: int, now: float) -> None:
        """Ask for what the layers behind this one will need; what waited before is dropped."""
        self._asked = now
        self._waiting.clear()
        if shares is None:
            return
        urgent = self._urgent = prefetch_priority(shares, layer).ravel()
        wanted = np.flatnonzero((urgent > 0) & ~self._buffer.held)
        self._waiting.extend(wanted[np.argsort(-urgent[wanted], kind="stable")].tolist())

    def go_on(self, until: float, worth: Shares) -> None:
        """Send what the link had a place for, up to a point in time.

        Args:
            until: In seconds.
            worth: float64[L*E], what decides who goes.
        """
        while self._waiting:
            start = self._asked
            if len(self._on_link) >= self._ahead:
                start = max(start, self._on_link[-self._ahead])
            if start > until:
                return
            cell = self._waiting.popleft()
            # What is there and needed as urgently is as good as prefetched.
            if not self._buffer.make_place(worth, start, self._urgent >= self._urgent[cell]):
                self._waiting.clear()
                return
            arrives = self._link.send(start, self._row)
            self._buffer.await_(cell, arrives)
            self._on_link.append(arrives)
            if len(self._on_link) > self._ahead:
                self._on_link.popleft()
            self.sent += 1
