# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What swaps were asked for: how many more a layer may have, who must stay, what was copied."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from expert_bank.pace import Pace
from expert_bank.swaps import Swap


class Ledger:
    """The moving map's swaps.

    Attributes:
        tokens: Scheduled so far.
        credit: float64[L]: swaps that a layer may have now.
    """

    def __init__(self, shape: tuple[int, ...], rows_per_swap: int, pace: Pace) -> None:
        self.tokens = 0.0
        self.credit: NDArray[np.float64] = np.full(shape[0], float(pace.swaps))
        self._moved: NDArray[np.float64] = np.full(shape, -np.inf)
        self._rows_per_swap = rows_per_swap
        self._paid = 0
        self._asked: Sequence[Swap] = ()

    def go_on(self, tokens: float, pace: Pace) -> None:
        """Let time pass: some tokens were scheduled."""
        self.tokens += tokens
        if every := pace.tokens_per_swap:
            self.credit += tokens / every
        else:
            self.credit[:] = np.inf
        np.minimum(self.credit, pace.swaps, out=self.credit)

    def movable(self, residence: int) -> NDArray[np.bool_]:
        """Tell which experts were where they are for so many tokens, bool[L, E]."""
        found: NDArray[np.bool_] = self.tokens - self._moved >= residence
        return found

    def ask(self, swaps: Sequence[Swap]) -> None:
        """Charge swaps; ``settle`` sees whether they were made."""
        self._book(swaps, 1, self.tokens)
        self._asked = swaps

    def settle(self, now: NDArray[np.bool_]) -> None:
        """Take back the last swaps that were cut or failed: bool[L, E], which experts are hot now."""
        self._book([each for each in self._asked if not _made(each, now)], -1, -np.inf)
        self._asked = ()

    def paid(self) -> int:
        """Give the rows that were copied since the last call."""
        paid, self._paid = self._paid, 0
        return paid

    def _book(self, swaps: Sequence[Swap], times: int, moved: float) -> None:
        for swap in swaps:
            self.credit[swap.layer] += -times
            self._paid += times * self._rows_per_swap
            for expert in (swap.promote, swap.demote):
                if expert is not None:
                    self._moved[swap.layer, expert] = moved


def _made(swap: Swap, hot: NDArray[np.bool_]) -> bool:
    return swap.promote is None or bool(hot[swap.layer, swap.promote])
