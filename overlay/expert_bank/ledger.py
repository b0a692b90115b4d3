# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What swaps were asked for: how many more a layer may have, who must stay, what was copied."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from expert_bank.pace import Pace
from expert_bank.swaps import Swap


class Ledger:
    """The swaps of the moving map, and those of the served one where it is another.

    Attributes:
        tokens: Scheduled so far.
        credit: float64[L]: swaps that a layer of the moving map may have now.
        served: float64[L]: the same of the map that is served.
    """

    def __init__(self, shape: tuple[int, ...], rows_per_swap: int, pace: Pace) -> None:
        self.tokens = 0.0
        self.credit: NDArray[np.float64] = np.full(shape[0], float(pace.swaps))
        self.served = self.credit.copy()
        self._moved: NDArray[np.float64] = np.full(shape, -np.inf)
        self._put = self._moved.copy()
        self._rows_per_swap = rows_per_swap
        self._paid = 0
        self._asked: Sequence[Swap] = ()
        self._back: Sequence[Swap] = ()

    def go_on(self, tokens: float, pace: Pace) -> None:
        """Let time pass: some tokens were scheduled."""
        self.tokens += tokens
        earned = tokens / pace.tokens_per_swap if pace.tokens_per_swap else np.inf
        for credit in (self.credit, self.served):
            np.minimum(credit + earned, pace.swaps, out=credit)

    def movable(self, residence: int) -> NDArray[np.bool_]:
        """Tell which experts of the moving map are where they are for so many tokens, bool[L, E]."""
        found: NDArray[np.bool_] = self.tokens - self._moved >= residence
        return found

    def charge(self, swaps: Sequence[Swap]) -> None:
        """Charge swaps of a moving map that is not served: they are as good as made."""
        self._book(swaps, 1, self.tokens)

    def ask(self, swaps: Sequence[Swap]) -> None:
        """Charge swaps of a moving map that is served; ``settle`` sees whether they were made."""
        self._book(swaps, 1, self.tokens)
        _spend(self.served, swaps, 1)
        self._asked = swaps

    def go_back(self, swaps: Sequence[Swap]) -> None:
        """Charge swaps on the way back to the boot map; ``settle`` sees the same."""
        _spend(self.served, swaps, 1)
        self._back = swaps

    def settle(self, now: NDArray[np.bool_]) -> None:
        """Take back the last swaps that were cut or failed: bool[L, E], which experts are hot now."""
        made = [each for each in (*self._asked, *self._back) if _made(each, now)]
        _stamp(self._put, made, self.tokens)
        undone = [each for each in self._asked if not _made(each, now)]
        self._book(undone, -1, -np.inf)
        _spend(self.served, undone, -1)
        _spend(self.served, [each for each in self._back if not _made(each, now)], -1)
        self._asked = self._back = ()

    def begin_anew(self) -> None:
        """Have the moving map be the served one: nothing of another one is charged to it."""
        self._asked = self._back = ()
        self._paid = 0
        self.credit[:] = self.served
        self._moved[:] = self._put

    def paid(self) -> int:
        """Give the rows that were copied since the last call."""
        paid, self._paid = self._paid, 0
        return paid

    def _book(self, swaps: Sequence[Swap], times: int, moved: float) -> None:
        _spend(self.credit, swaps, times)
        self._paid += times * self._rows_per_swap * len(swaps)
        _stamp(self._moved, swaps, moved)


def _spend(credit: NDArray[np.float64], swaps: Sequence[Swap], times: int) -> None:
    for swap in swaps:
        credit[swap.layer] -= times


def _stamp(moved: NDArray[np.float64], swaps: Sequence[Swap], tokens: float) -> None:
    for swap in swaps:
        for expert in (swap.promote, swap.demote):
            if expert is not None:
                moved[swap.layer, expert] = tokens


def _made(swap: Swap, hot: NDArray[np.bool_]) -> bool:
    return swap.promote is None or bool(hot[swap.layer, swap.promote])
