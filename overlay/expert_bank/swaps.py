# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A swap of a cold expert for a hot one, and what makes a list of them sound."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from expert_bank.refused import Refused, shortened


@dataclass(frozen=True)
class Swap:
    """One expert gets hot in another's place; made between two forwards.

    Attributes:
        layer: Number of the layer.
        promote: The cold expert that gets hot; None where a row is only freed.
        demote: The hot expert that gets cold; None where the promoted one takes a free row.
    """

    layer: int
    promote: int | None
    demote: int | None

    def __post_init__(self) -> None:
        if self.promote is None and self.demote is None:
            raise ValueError("a swap that neither promotes nor demotes")


def read_swaps(told: object) -> list[Swap]:
    """Read swaps that came from outside: layer, expert to promote or None, expert to demote or None.

    Raises:
        Refused: It is no list of such; nothing was moved.
    """
    if not isinstance(told, list | tuple):
        raise Refused(f"swaps are a list, and this is {shortened(told)}")
    return [_read(each) for each in told]


def _read(told: object) -> Swap:
    if not isinstance(told, list | tuple) or len(told) != len(fields(Swap)):
        raise Refused(f"a swap is [layer, promote, demote], and this is {shortened(told)}")
    layer, *experts = told
    # A bool is an int to Python, and nobody's layer.
    if type(layer) is not int or any(type(each) not in (int, type(None)) for each in experts):
        raise Refused(f"a swap is of whole numbers, or null for no expert: {shortened(told)}")
    if experts == [None, None]:
        raise Refused(f"a swap that neither promotes nor demotes: {shortened(told)}")
    return Swap(layer, *experts)


def require_sound(swaps: Sequence[Swap], hot: Sequence[NDArray[np.bool_]]) -> None:
    """Refuse swaps that the table's state contradicts.

    Args:
        swaps: All that one barrier is to make.
        hot: Which experts are hot now, one bool[E] a layer.

    Raises:
        Refused: A swap promotes an expert that is hot, demotes one that is cold, names a layer or
            expert that is not there, or takes one that another swap takes.
    """
    taken: set[tuple[int, int]] = set()
    for swap in swaps:
        if not 0 <= swap.layer < len(hot):
            raise Refused(f"{swap}: there are {len(hot)} layers")
        state = hot[swap.layer]
        for expert, is_hot in ((swap.promote, False), (swap.demote, True)):
            if expert is None:
                continue
            if not 0 <= expert < len(state):
                raise Refused(f"{swap}: the layer has {len(state)} experts")
            if (swap.layer, expert) in taken:
                raise Refused(f"{swap}: expert {expert} is in another swap of this barrier")
            if bool(state[expert]) != is_hot:
                raise Refused(f"{swap}: expert {expert} is {'cold' if is_hot else 'hot'} already")
            taken.add((swap.layer, expert))
