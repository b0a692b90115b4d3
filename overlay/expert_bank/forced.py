# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Swaps that no policy asks for: for tests and audits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from expert_bank.refused import shortened
from expert_bank.swaps import Swap


@dataclass(frozen=True)
class Forced:
    """Random swaps at every n-th forward.

    What is drawn depends on the seed, the forward and the table's state alone, so each process of
    an engine draws the same, and one forward's draw can be made again without those before it.

    Attributes:
        every: n; forwards n, 2n, 3n, ... get swaps.
        pairs_per_layer: How many swaps a layer gets, or fewer where too few are hot or cold.
        seed: Of the draws' own PCG64 streams, one a forward.
    """

    every: int
    pairs_per_layer: int
    seed: int

    def __post_init__(self) -> None:
        # They come by RPC as JSON has them, and at a forward it is too late to say so.
        if any(type(each) is not int for each in (self.every, self.pairs_per_layer, self.seed)):
            raise ValueError(f"{shortened(self)} is not of whole numbers")
        if min(self.every, self.pairs_per_layer) < 1 or self.seed < 0:
            raise ValueError(f"{shortened(self)} makes no swap, or has a seed below 0")

    def at(
        self,
        forward: int,
        hot: Sequence[NDArray[np.bool_]],
        *,
        rows: Sequence[int] | None = None,
    ) -> list[Swap]:
        """Draw the swaps to make before a forward.

        Args:
            forward: Its number, the first one's 1.
            hot: Which experts are hot now, one bool[E] a layer.
            rows: H of each layer; where more than are taken, the free ones are filled first, by
                swaps that demote nothing. Without it no row counts as free.

        Returns:
            Swaps that ``swaps.require_sound`` takes, by layer; no expert is in two of them.

        Raises:
            ValueError: More experts of a layer are hot than it has rows.
        """
        if forward < 1 or forward % self.every:
            return []
        draw = np.random.PCG64((self.seed, forward))
        taken = [int(state.sum()) for state in hot]
        free = [0] * len(hot)
        if rows is not None:
            free = [room - used for room, used in zip(rows, taken, strict=True)]
        if any(left < 0 for left in free):
            raise ValueError(f"{taken} experts are hot, and the layers have {rows} rows")
        return [
            swap
            for layer, state in enumerate(hot)
            for swap in self._of_layer(draw, layer, state, free[layer])
        ]

    def _of_layer(
        self, draw: np.random.PCG64, layer: int, hot: NDArray[np.bool_], free: int
    ) -> list[Swap]:
        """Draw a layer's swaps.

        By raw bits: what NumPy makes of a stream may change with its version, the stream may not.
        """
        order = np.argsort(draw.random_raw(len(hot)), kind="stable")
        promoted = order[~hot[order]][: self.pairs_per_layer]
        demoted = order[hot[order]]
        fills = [Swap(layer, int(expert), None) for expert in promoted[:free]]
        pairs = zip(promoted[free:], demoted, strict=False)
        return fills + [Swap(layer, int(promote), int(demote)) for promote, demote in pairs]
