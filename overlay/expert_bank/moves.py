# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The swaps of all layers at one barrier: as many as each layer's credit and the budget allow."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from expert_bank.choosing import better, towards
from expert_bank.late import Map
from expert_bank.pace import Pace
from expert_bank.swaps import Swap

Found = Iterator[tuple[float, Swap]]
Layers = NDArray[np.float64]  # float64[L]


def better_map(
    scores: NDArray[np.float64],
    spread: float,
    hot: Map,
    movable: Map,
    rows: NDArray[np.int64],
    credit: Layers,
    pace: Pace,
) -> Found:
    """Yield what ``better`` finds in each layer.

    Args:
        scores: float64[L, E].
        spread: Variance of a score, as a part of it.
        hot: bool[L, E]: which experts are hot.
        movable: bool[L, E]: which may be moved now.
        rows: int64[L], H of each layer.
        credit: float64[L]: swaps that a layer may have; parts of one count nothing.
        pace: The settings.
    """
    room = rows - hot.sum(axis=1)
    for layer, each in enumerate(scores):
        found = better(layer, each, spread, hot[layer], movable[layer], int(room[layer]), pace)
        yield from islice(found, int(credit[layer]))


def way_to(scores: NDArray[np.float64], hot: Map, target: Map, credit: Layers) -> Found:
    """Yield what leads ``towards`` another map in each layer, within its credit."""
    for layer, each in enumerate(scores):
        found = towards(layer, each, hot[layer], target[layer])
        yield from islice(found, int(credit[layer]))


def within(found: Found, sizes: Sequence[int], budget_bytes: int) -> tuple[list[Swap], int]:
    """Take the swaps that a budget has room for, those that save most first.

    Args:
        found: What each saves, and the swap.
        sizes: Bytes that a swap of each layer copies.
        budget_bytes: That they may copy together.

    Returns:
        The swaps, and how many others there were.
    """
    taken, left, others = [], budget_bytes, 0
    for _, swap in sorted(found, key=lambda each: -each[0]):
        size = sizes[swap.layer]
        if size > left:
            others += 1
            continue
        left -= size
        taken.append(swap)
    return taken, others


def after(hot: Map, swaps: Sequence[Swap]) -> Map:
    """Give the map that swaps make of another."""
    made = hot.copy()
    for swap in swaps:
        if swap.promote is not None:
            made[swap.layer, swap.promote] = True
        if swap.demote is not None:
            made[swap.layer, swap.demote] = False
    return made
