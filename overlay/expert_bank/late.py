# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Cold picks under the map that served, and under others that could have served instead.

Each map is held against picks that came after it was made. A best map made of the very picks that
it is judged by beats every other one by chance alone, even where all experts are picked alike.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from expert_bank.weighing import Weights

Map: TypeAlias = NDArray[np.bool_]  # bool[L, E]
NAMES = ("late", "boot", "oracle")


class Late:
    """Counts the cold picks of the served map, the boot map and the oracle map.

    The oracle map has the experts with the highest scores in all hot rows; of equals those of the
    boot map, so that it is the boot map until something was picked. It is made anew at every
    barrier and copies nothing: one that swaps within bounds can hardly be better, and may be where
    traffic stands still.

    Attributes:
        cold: int64[3, L], so far, in the order of ``NAMES``.
    """

    def __init__(self, boot: Map, rows: NDArray[np.int64]) -> None:
        """Start with nothing picked.

        Args:
            boot: bool[L, E].
            rows: int64[L], H of each layer.
        """
        layers, experts = boot.shape
        self.cold: NDArray[np.int64] = np.zeros((3, layers), np.int64)
        self._boot = boot
        self._null = float(1 - rows.mean() / experts)
        self._taken = np.arange(experts) < rows[:, None]
        self._first = np.argsort(~boot, axis=1, kind="stable")
        self._late: NDArray[np.float64] = np.zeros((3, layers))
        self._picks: NDArray[np.float64] = np.zeros(layers)

    def take(
        self, counts: NDArray[np.int64], hot: Map, scores: NDArray[np.float64], weighed: Weights
    ) -> None:
        """Take in what was picked.

        Args:
            counts: int64[L, E].
            hot: bool[L, E], the map that served.
            scores: float64[L, E], of what was picked before.
            weighed: How much these picks count of late, and what is left of those before.
        """
        maps = (hot, self._boot, self.oracle(scores))
        cold = np.array([np.where(each, 0, counts).sum(axis=1) for each in maps])
        self.cold += cold
        self._late = self._late * weighed.kept + cold * weighed.mean
        self._picks = self._picks * weighed.kept + counts.sum(axis=1) * weighed.mean

    def oracle(self, scores: NDArray[np.float64]) -> Map:
        """Give the best map for such scores, bool[L, E]."""
        ordered = np.take_along_axis(scores, self._first, axis=1)
        order = np.argsort(-ordered, axis=1, kind="stable")
        best: Map = np.zeros(scores.shape, np.bool_)
        np.put_along_axis(best, np.take_along_axis(self._first, order, axis=1), self._taken, axis=1)
        return best

    def shares(self) -> dict[str, float | None]:
        """Tell which share of late picks was cold under each map; None where there are none.

        Beside ``NAMES`` there is ``null``: were all experts picked alike.
        """
        whole = self._picks.sum()
        return {**_shares(self._late.sum(axis=1), whole), "null": self._null if whole else None}

    def by_layer(self) -> list[dict[str, float | None]]:
        """Tell the same of each layer."""
        return [_shares(*each) for each in zip(self._late.T, self._picks, strict=True)]


def _shares(cold: Sequence[float] | NDArray[np.float64], picks: float) -> dict[str, float | None]:
    return {
        name: float(each / picks) if picks else None for name, each in zip(NAMES, cold, strict=True)
    }
