# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The split on the CPU, where each of torch's own calls costs as much as a decode step's picks.

A layer only maps its picks, and keeps them; behind the last layer they are counted together. The
counts are those of ``expert_bank::split``, and the map is one and the same during a step. It is for
eager steps alone: compiled code may use the ids' memory again before the step is over.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from expert_bank.counter import PickCounter
from expert_bank.split import split_reference
from expert_bank.table import Table
from expert_bank.table_layout import BANK, PLACE

Split = Callable[[torch.Tensor], torch.Tensor]


class StepSplit:
    """Splits the picks of all layers of a step, and counts them once.

    Attributes:
        counter: Where they are counted; its ``behind`` is ``count``.
        table: Where the experts are.
    """

    def __init__(self, counter: PickCounter, table: Table) -> None:
        self.counter = counter
        self.table = table
        self._kept: list[tuple[int, torch.Tensor]] = []
        counter.behind = self.count

    def of_layer(self, layer: int) -> Split:
        """Give what maps ``ids`` (int32 or int64 [T, k]) to places, of the same shape and dtype.

        Padding's ids may be anything; a token's that is outside [0, E) raises IndexError.
        """
        places = self.table.device[layer].select(0, PLACE)
        scheduled, kept = self.counter.scheduled, self._kept
        given = (self.counter.counts[layer], scheduled, self.table.device[layer])

        def split(ids: torch.Tensor) -> torch.Tensor:
            flat = ids.reshape(-1)
            try:
                found = places.index_select(0, flat)
            except IndexError:
                counts, tokens, table = given
                return split_reference(counts, ids, tokens, table)
            if scheduled.item():
                kept.append((layer, flat))
            if found.dtype is not ids.dtype:
                found = found.to(ids.dtype)
            return found.view_as(ids)

        return split

    def count(self) -> None:
        """Count what was kept since the last time; the table must not have changed since."""
        if not self._kept:
            return
        experts = self.table.host.shape[2]
        tokens = self.counter.scheduled.item() * self.counter.picks_per_token
        ids = [flat.numpy()[:tokens] for _, flat in self._kept]
        layers = np.repeat([layer for layer, _ in self._kept], [len(each) for each in ids])
        self._kept.clear()
        picks: NDArray[np.int64] = np.concatenate(ids, dtype=np.int64)
        banks = self.table.host[layers, BANK, picks]
        cells = (layers * self.counter.banks + banks) * experts + picks
        self.counter.add(cells)
