# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The barrier between two forwards: where rows are swapped, and nowhere else."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from expert_bank.limits import UNBOUNDED, Limits, require_budgets
from expert_bank.refused import Refused, worded
from expert_bank.swapping import Swapper
from expert_bank.swaps import Swap, require_sound

KEPT_FAILURES = 8
# Why the barrier is closed while device memory is not there.
SLEEP = "sleep"


class Moved(RuntimeError):  # noqa: N818 - it is what became of a bank
    """A bank or a table is elsewhere than a captured graph has it; nothing can be served rightly."""


class Source(Protocol):
    """Says which rows are to be swapped; ``forced`` has one."""

    def at(
        self, forward: int, hot: Sequence[NDArray[np.bool_]], *, rows: Sequence[int] | None = None
    ) -> list[Swap]:
        """List the swaps to make before a forward."""


@dataclass
class Totals:
    """What the barriers did so far.

    Attributes:
        forwards: Scheduled ones.
        barriers: At which swaps were asked for.
        swaps: That came to their end, verified.
        failed: That left an expert where it was, or that could not be asked for or begun.
        cut: That a budget left for later, or for nothing.
        bytes: Copied and verified.
        seconds: Spent at barriers with swaps, draining the device included. A map that follows has
            drained it before, which ``Followed.drain_seconds`` has.
    """

    forwards: int = 0
    barriers: int = 0
    swaps: int = 0
    failed: int = 0
    cut: int = 0
    bytes: int = 0
    seconds: float = 0.0


class Barrier:
    """Swaps rows between forwards, on a drained device, within its budgets.

    Attributes:
        source: Says what to swap and when; None while the map stays as it is.
        byte_budget: Bytes of one barrier; the swap that runs past it is the last, 0 takes none.
        second_budget: Seconds of one barrier; of ``Totals.seconds``, and the same.
        totals: What was done.
        layer_swaps: Of ``totals.swaps``, those of each layer.
        failures: The last few, in words.
        closed: Why no swap may run now; empty where one may.
    """

    def __init__(self, swapper: Swapper, drain: Callable[[], None]) -> None:
        self.swapper = swapper
        self.drain = drain
        self.source: Source | None = None
        self.byte_budget = UNBOUNDED
        self.second_budget = float("inf")
        self.totals = Totals()
        self.layer_swaps = [0] * len(swapper.banks)
        self.failures: list[str] = []
        self.closed: list[str] = []
        self._addresses = self._read_addresses()

    @property
    def limits(self) -> Limits:
        """Its budgets, as ``limit`` takes them."""
        bytes_ = None if self.byte_budget >= UNBOUNDED else self.byte_budget
        return bytes_, None if self.second_budget == float("inf") else self.second_budget

    def limit(self, byte_budget: int | None, second_budget: float | None) -> None:
        """Limit one barrier; None for no limit.

        Raises:
            Refused: One is below zero, or no number.
        """
        require_budgets(byte_budget, second_budget)
        self.byte_budget = UNBOUNDED if byte_budget is None else byte_budget
        self.second_budget = float("inf") if second_budget is None else second_budget

    @contextmanager
    def shut(self, reason: str) -> Iterator[None]:
        """Keep the barrier closed while the block runs: profiling, capture, sleep, a reload."""
        self.closed.append(reason)
        try:
            yield
        finally:
            self.closed.remove(reason)

    def forward(self) -> None:
        """Stand before a scheduled forward; every earlier one is enqueued by now.

        Raises:
            Moved: A bank or a table is not where it was; anything else is told as a failure.
        """
        self.totals.forwards += 1
        if self.source is None or self.closed:
            return
        table = self.swapper.table
        try:
            if swaps := self.source.at(self.totals.forwards, table.is_hot(), rows=table.hot):
                self.swap(swaps)
        except Moved:
            raise
        except Exception as error:  # noqa: BLE001 - a source, or a device, raises what it likes
            # Nothing was moved, and whoever waits for this forward has done nothing wrong.
            self._fail(f"before forward {self.totals.forwards}: {worded(error)}")

    def swap(self, swaps: Sequence[Swap], *, bounded: bool = True) -> None:
        """Drain the device and swap; what a budget leaves over is not kept for later.

        Args:
            swaps: What to swap, in this order.
            bounded: Whether the budgets hold.

        Raises:
            Refused: The barrier is closed, or a swap contradicts the table; nothing was moved.
            Moved: A bank or a table is not where it was; where that was so before, nothing was moved.
        """
        self.require(swaps)
        self.require_addresses()
        start = time.perf_counter()
        self.drain()
        totals, spent = self.totals, 0
        for done, swap in enumerate(swaps):
            # However long the device took: a budget above 0 is worth one swap.
            late = done and time.perf_counter() - start >= self.second_budget
            past = spent >= self.byte_budget or late or not self.second_budget
            if bounded and past:
                totals.cut += len(swaps) - done
                break
            swapped = self.swapper.swap(swap)
            spent += swapped.bytes
            totals.swaps += not swapped.failure
            self.layer_swaps[swap.layer] += not swapped.failure
            if swapped.failure:
                self._fail(swapped.failure)
        totals.barriers += 1
        totals.bytes += spent
        totals.seconds += time.perf_counter() - start
        self.require_addresses()

    def require(self, swaps: Sequence[Swap]) -> None:
        """Refuse swaps that may not be made now; changes nothing.

        Raises:
            Refused: The barrier is closed, or a swap contradicts the table.
        """
        if self.closed:
            raise Refused(f"no row may be swapped during {self.closed[-1]}")
        require_sound(swaps, self.swapper.table.is_hot())

    def told(self) -> dict[str, Any]:
        """Tell what was done and what bounds it, as values that JSON can carry."""
        return {
            **asdict(self.totals),
            "budgets": dict(zip(("bytes", "seconds"), self.limits, strict=True)),
            "failures": self.failures,
            "closed": self.closed,
        }

    def _fail(self, failure: str) -> None:
        self.totals.failed += 1
        self.failures = [*self.failures, failure][-KEPT_FAILURES:]

    def require_addresses(self) -> None:
        """Stand before or behind what must leave banks and tables where they are.

        Raises:
            Moved: One is elsewhere.
        """
        if self._read_addresses() != self._addresses:
            raise Moved("a bank or a table moved; a captured graph would read the old one")

    def _read_addresses(self) -> tuple[int, ...]:
        swapper = self.swapper
        banks = [address for bank in swapper.banks for address in bank.addresses()]
        return (*banks, *(each.data_ptr() for each in swapper.table.device))
