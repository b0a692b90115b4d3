# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which swaps of a layer are worth it, by the scores of its experts."""

from collections.abc import Iterator
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from expert_bank.pace import Pace
from expert_bank.swaps import Swap


def better(
    layer: int,
    scores: NDArray[np.float64],
    spread: float,
    hot: NDArray[np.bool_],
    movable: NDArray[np.bool_],
    room: int,
    pace: Pace,
) -> Iterator[tuple[float, Swap]]:
    """Yield the swaps that would lower a layer's cold picks by more than chance, best first.

    A free row takes the most picked cold expert that is above the margin; else the most picked cold
    expert takes the place of the least picked hot one. Of equals the lower id goes first.

    Args:
        layer: Its number.
        scores: float64[E]: picks of late.
        spread: Variance of a score, as a part of it; see ``weighing.Spread``.
        hot: bool[E]: which experts are hot.
        movable: bool[E]: which may be moved now.
        room: Hot rows that no expert is in.
        pace: The settings.

    Yields:
        Picks that the swap would have saved, and the swap.
    """
    cold = np.flatnonzero(~hot & movable)
    cold = cold[np.argsort(-scores[cold], kind="stable")]
    victims = np.flatnonzero(hot & movable)
    victims = victims[np.argsort(scores[victims], kind="stable")]
    for expert in cold[:room]:
        if scores[expert] <= pace.margin:
            return
        yield float(scores[expert]), Swap(layer, int(expert), None)
    for expert, victim in zip(cold[room:], victims, strict=False):
        ours, theirs = float(scores[expert]), float(scores[victim])
        if not worth(ours, theirs, spread, pace):
            return
        yield ours - theirs, Swap(layer, int(expert), int(victim))


def worth(ours: float, theirs: float, spread: float, pace: Pace) -> bool:
    """Tell whether a cold expert's score is far enough above its victim's.

    Args:
        ours: Its score.
        theirs: The victim's.
        spread: Variance of a score, as a part of it.
        pace: The settings.
    """
    chance = pace.noise * sqrt(spread * (ours + theirs))
    return ours > max(pace.ratio * theirs + pace.margin, theirs + chance)


def towards(
    layer: int, scores: NDArray[np.float64], hot: NDArray[np.bool_], target: NDArray[np.bool_]
) -> Iterator[tuple[float, Swap]]:
    """Yield the swaps that make a layer's map another one, those that save most first.

    Args:
        layer: Its number.
        scores: float64[E]: picks of late.
        hot: bool[E]: which experts are hot.
        target: bool[E]: which shall be.

    Yields:
        As ``better``; what a swap saves may be below zero.
    """
    wanted = np.flatnonzero(target & ~hot)
    wanted = wanted[np.argsort(-scores[wanted], kind="stable")].tolist()
    unwanted = np.flatnonzero(hot & ~target)
    unwanted = unwanted[np.argsort(scores[unwanted], kind="stable")].tolist()
    for number in range(max(len(wanted), len(unwanted))):
        promote = wanted[number] if number < len(wanted) else None
        demote = unwanted[number] if number < len(unwanted) else None
        saved = sum(scores[[e for e in (promote,) if e is not None]])
        saved -= sum(scores[[e for e in (demote,) if e is not None]])
        yield float(saved), Swap(layer, promote, demote)
