# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The split on the CPU, where each of torch's own calls costs as much as a decode step's picks.

A layer only maps its picks and keeps them. They are counted many at a time: before anybody reads
the counts, before an entry of the table changes, and when enough are kept. The counts are those of
``expert_bank::split``. It is for eager steps alone: compiled code may use the ids' memory again. Where
a router does so, forwards and swaps go on, and whoever reads the counts is refused from then on.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from expert_bank.counter import PickCounter
from expert_bank.split import split_reference
from expert_bank.staging.table_now import Find
from expert_bank.table import Table
from expert_bank.table_layout import BANK, PLACE

# Tokens of all layers together that are kept at most, beside those of one layer's forward.
MOST = 512
USED_AGAIN = "the router used the memory of ids again before they were counted"
Split = Callable[[torch.Tensor], torch.Tensor]


class LateSplit:
    """Splits the picks of all layers, and counts them later.

    Attributes:
        counter: Where they are counted; before it is read, it calls ``count``.
        table: Where the experts are; before an entry changes, it does, too.
    """

    def __init__(self, counter: PickCounter, table: Table) -> None:
        self.counter = counter
        self.table = table
        self._kept: list[tuple[int, torch.Tensor]] = []
        self._tokens = 0
        counter.settle = self.count
        table.before.append(self.count)

    def of_layer(self, layer: int, find: Find | None = None) -> Split:
        """Give what maps ``ids`` (int32 or int64 [T, k]) to places, of the same shape and dtype.

        Args:
            layer: Its number.
            find: Gives the table of a step, where some are staged; else the layer's own is it.

        Padding's ids may be anything; a token's that is outside [0, E) raises IndexError. The ids
        of tokens must stay as they are.
        """
        places = self.table.device[layer].select(0, PLACE)
        scheduled, kept = self.counter.scheduled, self._kept
        own, counts = self.table.device[layer], self.counter.counts[layer]

        def split(ids: torch.Tensor) -> torch.Tensor:
            flat = ids.reshape(-1)
            table = own if find is None else find()
            table = own if table is None else table
            by = places if table is own else table.select(0, PLACE)
            try:
                found = by.index_select(0, flat)
            except IndexError:
                return split_reference(counts, ids, scheduled, table)
            if tokens := scheduled.item():
                rows, picks = ids.shape
                kept.append((layer, flat if tokens == rows else flat[: tokens * picks]))
                self._tokens += tokens
                if self._tokens >= MOST:
                    self.count()
            elif kept:
                self._see_apart(flat)
            if found.dtype is not ids.dtype:
                found = found.to(ids.dtype)
            return found.view_as(ids)

        return split

    def count(self) -> None:
        """Count what is kept.

        Where the router wrote ids into memory that it had used for others before, nothing is counted
        from there on, and whoever reads the counts is told. Forwards and swaps call this, and go on.
        """
        if not self._kept:
            return
        kept, experts = self._kept.copy(), self.table.host.shape[2]
        self._kept.clear()
        self._tokens = 0
        if self.counter.inexact:
            return
        if len({flat.data_ptr() for _, flat in kept}) < len(kept):
            self._spoil(_first_again(kept))
            return
        ids = [flat.numpy() for _, flat in kept]
        layers = np.repeat([layer for layer, _ in kept], [len(each) for each in ids])
        picks: NDArray[np.int64] = np.concatenate(ids, dtype=np.int64)
        banks = self.table.host[layers, BANK, picks]
        self.counter.add((layers * self.counter.banks + banks) * experts + picks)

    def _see_apart(self, ids: torch.Tensor) -> None:
        """See ids of a forward that nobody scheduled in the place of some that are kept."""
        for layer, flat in self._kept:
            if flat.data_ptr() == ids.data_ptr():
                self._spoil(layer)
                return

    def _spoil(self, layer: int) -> None:
        self.counter.inexact = self.counter.inexact or f"{self.counter.layers[layer]}: {USED_AGAIN}"


def _first_again(kept: Sequence[tuple[int, torch.Tensor]]) -> int:
    """Give the layer of the first ids that lie where others did."""
    seen: set[int] = set()
    for layer, flat in kept:
        if flat.data_ptr() in seen:
            return layer
        seen.add(flat.data_ptr())
    raise ValueError("all ids lie apart")
