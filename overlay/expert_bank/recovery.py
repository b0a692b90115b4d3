# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How long a map that follows traffic takes to be right again after traffic has switched."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd

import numpy as np
from numpy.typing import NDArray

from expert_bank.pace import Pace
from expert_bank.plan import Plan
from expert_bank.swap_bytes import rows_per_swap
from expert_bank.telling import Rate, barriers_to_tell


@dataclass(frozen=True)
class Recovery:
    """What a switch costs at most.

    Attributes:
        swaps: Of each layer.
        seen: Barriers until the scores tell the experts apart; None where they never do.
        made: Barriers from then on until all swaps are made; None where the byte budget takes none
            of some layer's.
        tokens_per_barrier: Scheduled from one barrier to the next.
        forwards_per_barrier: The same in forwards.
        bytes: Copied in all.
    """

    swaps: tuple[int, ...]
    seen: int | None
    made: int | None
    tokens_per_barrier: int
    forwards_per_barrier: int
    bytes: int

    @property
    def barriers(self) -> int | None:
        """Barriers in all; one more, for traffic switches between two."""
        return None if self.seen is None or self.made is None else 1 + self.seen + self.made

    @property
    def tokens(self) -> int | None:
        """Tokens in all."""
        return None if self.barriers is None else self.barriers * self.tokens_per_barrier

    def copy_seconds(self, link: float) -> float:
        """Seconds that the copies take at ``link`` GB/s (1e9 bytes)."""
        return self.bytes / (link * 1e9)

    def seconds(self, step: float, link: float | None = None) -> float | None:
        """Seconds of serving at ``step`` seconds a forward, and of the copies where told."""
        if self.barriers is None:
            return None
        copies = 0.0 if link is None else self.copy_seconds(link)
        return self.barriers * self.forwards_per_barrier * step + copies


def most_swaps(plan: Plan) -> tuple[int, ...]:
    """Count the swaps of each layer after the worst switch: all that can get hot must."""
    return tuple(
        min(hot, layer.experts - hot) for layer, hot in zip(plan.layers, plan.hot, strict=True)
    )


def needed_swaps(
    hot: Sequence[NDArray[np.bool_]], wanted: Sequence[NDArray[np.bool_]]
) -> tuple[int, ...]:
    """Count the swaps of each layer from one map to another, exactly.

    Args:
        hot: bool[E] of each layer: say the boot map.
        wanted: The same: say the oracle map of the traffic that came.
    """
    return tuple(int((new & ~old).sum()) for old, new in zip(hot, wanted, strict=True))


def recovery(
    plan: Plan, pace: Pace, *, tokens_per_forward: int = 1, swaps: Sequence[int] | None = None
) -> Recovery:
    """Bound what a map takes to recover.

    What is assumed: each hot expert has an even share of its layer's picks, k/H a token, before
    the switch those that are hot and after it those that shall be, and the others none; traffic
    was the same for many half-lives before; every forward has as many tokens; the guard trusts the
    map; and swaps end within the barrier's ``seconds``.

    Where some experts have more than their share, most of what is lost is won back sooner; the rest
    is for experts that are picked hardly oftener than those in their rows, and takes longer.

    Args:
        plan: Of the two banks.
        pace: How the map follows.
        tokens_per_forward: That are scheduled, on average; 1 for one user who gets one at a time.
        swaps: Of each layer, where the maps are known; else the most.
    """
    counts = most_swaps(plan) if swaps is None else tuple(swaps)
    tokens = pace.every * tokens_per_forward
    moving = [number for number, count in enumerate(counts) if count]
    rows = rows_per_swap(plan.mode)
    sizes = [layer.row * rows for layer in plan.layers]
    shares = {plan.layers[number].picks / plan.hot[number] for number in moving}
    seen = [barriers_to_tell(pace, tokens, Rate(each, 0), Rate(0, each)) for each in shares]
    stays = ceil(pace.residence / tokens) if moving else 0
    fits = pace.bytes is None or all(sizes[number] <= pace.bytes for number in moving)
    return Recovery(
        swaps=counts,
        seen=None if None in seen else max([stays, *(each for each in seen if each)]),
        made=_made(counts, sizes, pace, tokens) if fits else None,
        tokens_per_barrier=tokens,
        forwards_per_barrier=pace.every,
        bytes=sum(size * count for size, count in zip(sizes, counts, strict=True)),
    )


def _made(counts: Sequence[int], sizes: Sequence[int], pace: Pace, tokens: int) -> int:
    """Bound the barriers of all swaps, whichever of them a barrier makes first.

    A layer that is not done is held up at a barrier by its own pace, or by the bytes of others; it
    was the former at most as often as if it were alone. At the latter so little of the budget was
    left that no swap of this layer fitted, and of such there are only as many as all bytes fill.
    """
    whole = sum(size * count for size, count in zip(sizes, counts, strict=True))
    unit = gcd(*sizes)
    most = 0
    for count, size in zip(counts, sizes, strict=True):
        if count:
            full = 0
            if pace.bytes is not None and pace.bytes < whole:
                spent = -(-(pace.bytes - size + 1) // unit) * unit
                full = (whole - size) // spent
            most = max(most, _alone(count, pace, tokens) + full)
    return most


def _alone(count: int, pace: Pace, tokens: int) -> int:
    """Count the barriers of one layer's swaps where its pace alone holds it up.

    As ``Policy``: it earns a part of a swap by every token, keeps no more than it may spend at one
    barrier, and has nothing in hand.
    """
    if not pace.tokens_per_swap:
        return ceil(count / pace.swaps)
    earned = Fraction(tokens, pace.tokens_per_swap)
    credit, barriers = Fraction(), 0
    while count > 0:
        wait = max(1, ceil((1 - credit) / earned))
        credit = min(credit + wait * earned, Fraction(pace.swaps))
        barriers += wait
        count -= int(credit)
        credit -= int(credit)
    return barriers
