# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""From how many tokens on staging a layer's cold rows moves fewer bytes than reading them in place.

Staged, every cold row crosses the link once. In place, a kernel reads a row anew for each block of
tokens that picked it: ``ceil(n / block)`` times where n tokens did. So staging pays where a cold row
is read more than once in the mean. n is taken to be Poisson's, with the mean that the measured share
of cold picks gives; real picks are skewed, so that some rows are read often and others never.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

# Beyond it no step of an engine goes.
MOST_TOKENS = 2**24
NEVER = MOST_TOKENS + 1
# A read each, and what a sum over layers may be off by.
ONCE = 1 + 1e-12
# A tail of Poisson's that is left out.
TAIL = 1e-12
# Above it the distribution is told by its mean to within a thousandth of a read.
LARGE = 256.0


@dataclass(frozen=True)
class Cold:
    """What a step's cold reads follow from.

    Attributes:
        picks: k of each layer, over all layers that have cold rows; so many picks has a token.
        rows: Cold experts of all layers.
        block: Tokens of one expert that share one read of its row.
    """

    picks: int
    rows: int
    block: int = 1

    @classmethod
    def of(cls, layers: Sequence[int], picks: int, block: int = 1) -> Self:
        """Sum layers up.

        Args:
            layers: Cold experts of each.
            picks: k of each.
            block: See ``Cold``.
        """
        return cls(picks * sum(rows > 0 for rows in layers), sum(layers), block)

    def reads(self, tokens: int, share: float) -> float:
        """Tell how often a cold row is read in place, in the mean.

        Args:
            tokens: Of the step.
            share: Of the picks of these layers, those that are cold.
        """
        if not self.rows:
            return 0.0
        mean = tokens * self.picks * share / self.rows
        return mean if self.block == 1 else _blocks(mean, self.block)

    def least(self, share: float) -> int:
        """Give the smallest number of tokens at which a cold row is read more than once in the mean.

        Args:
            share: As in ``reads``.

        Returns:
            Tokens; ``NEVER`` where none is enough.
        """
        if not self.rows or share <= 0 or self.reads(MOST_TOKENS, share) <= ONCE:
            return NEVER
        low, high = 0, 1
        while self.reads(high, share) <= ONCE:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.reads(middle, share) <= ONCE else (low, middle)
        return high


def null_share(layers: Sequence[int], experts: int) -> float:
    """Give the share of picks that are cold where every expert is picked alike.

    Args:
        layers: Cold experts of each; those that have none do not count.
        experts: E of each.
    """
    found = [rows / experts for rows in layers if rows]
    return sum(found) / len(found) if found else 0.0


def _blocks(mean: float, block: int) -> float:
    """Expect ``ceil(n / block)`` of Poisson's n: the sum over j of the odds that n > j * block."""
    if mean > LARGE:
        # A last block that is half full in the mean.
        return mean / block + (block - 1) / (2 * block)
    odds = math.exp(-mean)
    below, found, n = odds, 0.0, 0
    while True:
        if n % block == 0:
            found += max(0.0, 1.0 - below)
        n += 1
        odds *= mean / n
        below += odds
        if n > mean and 1.0 - below < TAIL:
            return found
