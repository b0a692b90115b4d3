# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How often each expert of each layer was picked, exactly."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from expert_bank.refused import Refused

# What an int32 cell can take before two readings could no longer be told apart.
WRAPS_AT = 2**32
AGAIN = "start the engine again, without enforce_eager: compiled steps count as they go"
SOME_ROWS = "start the engine again, without what has layers run on some of the tokens alone"


class Step:
    """A forward that somebody scheduled; a class, for a generator costs each step more."""

    __slots__ = ("_counter", "_tokens")

    def __init__(self, counter: "PickCounter", tokens: int) -> None:
        self._counter = counter
        self._tokens = tokens

    def __enter__(self) -> None:
        counter = self._counter
        if counter.unread + self._tokens * counter.picks_per_token >= WRAPS_AT:
            counter.collect()
        counter.schedule(self._tokens)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        counter = self._counter
        counter.schedule(0)
        if kind is None:
            counter.tokens += self._tokens
            counter.unread += self._tokens * counter.picks_per_token


class PickCounter:
    """Counts of picks by layer and expert: 32 bits each on the device, 64 bits on the host.

    The device tensors are allocated once and only ever written in place, so a captured graph may
    hold their addresses. torch has no arithmetic on unsigned 32-bit integers on the CPU; the cells
    are int32, and their difference to the last reading is taken modulo 2**32.

    Attributes:
        layers: Names of the L layers, in the model's order.
        picks_per_token: k, how many experts a layer picks for a token.
        banks: B, how many banks a pick may be served from; counted apart.
        counts: One int32[B * E] per layer, on the device; bank b counts from b * E on.
        settle: Counts the picks that are kept back, or None; called before counts are read.
        inexact: Why the counts are not exact, once and for good; empty while they are.
        mend: What to do about that.
        scheduled: int32[1] on the device: how many rows of the running forward are tokens.
        serves: Whether each forward is of a model, and runs all its layers on all tokens that were
            scheduled; held against every reading.
        tokens: How many tokens were scheduled so far.
        unread: How many picks of a layer were counted since the counts were read, at most.
    """

    def __init__(
        self,
        layers: Sequence[str],
        *,
        experts: int,
        picks_per_token: int,
        device: torch.device,
        banks: int = 1,
    ) -> None:
        self.layers = tuple(layers)
        self.picks_per_token = picks_per_token
        self.banks = banks
        shape = (len(self.layers), banks * experts)
        self._counts = torch.zeros(shape, dtype=torch.int32, device=device)
        self.counts = self._counts.unbind()
        self.settle: Callable[[], None] | None = None
        self.inexact = ""
        self.mend = AGAIN
        self.serves = False
        self.scheduled = torch.zeros(1, dtype=torch.int32, device=device)
        # Where the host can, it writes there itself: torch takes longer to be asked.
        self._cell = None if self.scheduled.is_cuda else self.scheduled.numpy()
        self.tokens = 0
        self._read: NDArray[np.uint32] = np.zeros(shape, np.uint32)
        self._totals: NDArray[np.int64] = np.zeros(shape, np.int64)
        self.unread = 0

    def step(self, tokens: int) -> "Step":
        """Count the picks of the forward that is enqueued in the block that this is entered for.

        Args:
            tokens: How many tokens the scheduler put into it, without padding.
        """
        return Step(self, tokens)

    def schedule(self, tokens: int) -> None:
        """Say how many rows of the forwards from here on are tokens."""
        if self._cell is None:
            self.scheduled.fill_(tokens)
        else:
            self._cell[0] = tokens

    def add(self, cells: NDArray[np.int64]) -> None:
        """Add one to each of the given cells of all layers' counts, int64[N]; on the CPU alone."""
        counts = self._counts.numpy().reshape(-1)
        # From 64 bits into 32, which wraps as the device's own addition does.
        added = np.bincount(cells, minlength=len(counts))
        np.add(counts, added, out=counts, casting="unsafe")

    def snapshot(self) -> NDArray[np.int64]:
        """Read the totals since start, int64[L, E]; waits for the device.

        Raises:
            Refused: The counts are not exact.
        """
        summed: NDArray[np.int64] = self.by_bank().sum(axis=1)
        return summed

    def by_bank(self) -> NDArray[np.int64]:
        """Read the totals since start, int64[L, B, E]; waits for the device.

        Raises:
            Refused: The counts are not exact.
        """
        self.collect()
        if self.inexact:
            raise Refused(f"the counts of picks are not exact: {self.inexact}", hint=self.mend)
        return self._totals.reshape(len(self.layers), self.banks, -1).copy()

    def collect(self) -> None:
        """Take the device's counts over, before a cell goes once around; waits for the device."""
        if self.settle is not None:
            self.settle()
        now = self._counts.cpu().numpy().view(np.uint32).copy()
        self._totals += now - self._read
        self._read = now
        self.unread = 0
        if self.serves:
            self._see_whether_all_ran()

    def _see_whether_all_ran(self) -> None:
        """Hold every layer's picks against the tokens: some feature may run it on a part of them."""
        expected = self.tokens * self.picks_per_token
        for name, found in zip(self.layers, self._totals.sum(axis=1).tolist(), strict=True):
            if found != expected and not self.inexact:
                self.inexact = (
                    f"{name} counted {found} picks, and {self.tokens} tokens make {expected}"
                )
                self.mend = SOME_ROWS
