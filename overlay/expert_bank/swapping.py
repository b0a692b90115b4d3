# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One swap of a layer's rows, at a drained barrier."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from expert_bank.bank import LayerBank
from expert_bank.row_sums import row_sums
from expert_bank.swaps import Swap
from expert_bank.table import Table
from expert_bank.table_layout import BANK, COLD, HOT, ROW

Rows = Sequence[torch.Tensor]
Copy = Callable[[Rows, Rows], None]


class CopyError(RuntimeError):
    """A row that was copied is not what was loaded."""


@dataclass(frozen=True)
class Swapped:
    """What became of a swap.

    Attributes:
        swap: What was asked for.
        bytes: Copied and verified.
        failure: Why the promoted expert is still read from its cold row; empty where it is hot.
    """

    swap: Swap
    bytes: int
    failure: str = ""


class Swapper:
    """Moves rows and the entries that point to them; the device must be drained.

    The order is: demote flip, copy, verify, promote flip. Whatever fails on the way leaves every
    expert on a whole row: slow, and right.

    Attributes:
        banks: Of all layers, in load order.
        table: Points into them.
        sums: int64[E, tensors] of each layer, of the rows as they were loaded.
        vacated: Called with layer, bank and row once no entry points there.
        wanted: Called with layer and expert before its mirror row is pointed to.
    """

    def __init__(
        self,
        banks: Sequence[LayerBank],
        table: Table,
        sums: Sequence[torch.Tensor],
        copy: Copy,
    ) -> None:
        self.banks = tuple(banks)
        self.table = table
        self.sums = tuple(each.cpu() for each in sums)
        self.copy = copy
        self.vacated: Callable[[int, int, int], None] = _ignored
        self.wanted: Callable[[int, int], None] = _ignored
        self.free = [
            _unused(bank.hot, table.host[layer], HOT) for layer, bank in enumerate(self.banks)
        ]
        self.spare = [
            [] if bank.mirrors else _unused(bank.cold, table.host[layer], COLD)
            for layer, bank in enumerate(self.banks)
        ]

    def swap(self, swap: Swap) -> Swapped:
        """Make a cold expert hot, and a hot one cold to make room where that is said.

        Args:
            swap: One that ``swaps.require_sound`` takes.
        """
        moved = 0
        try:
            if swap.demote is not None:
                moved += self._demote(swap.layer, swap.demote)
            if swap.promote is not None:
                moved += self._promote(swap.layer, swap.promote)
        except RuntimeError as error:
            return Swapped(swap, moved, str(error))
        return Swapped(swap, moved)

    def verify(self, layer: int, expert: int, bank: int, row: int) -> None:
        """Compare a row's bytes with those that were loaded.

        Raises:
            CopyError: They differ; the message names layer, expert and tensors.
        """
        held = self.banks[layer]
        found = [int(row_sums(each[None])[0]) for each in held.row(bank, row)]
        loaded = self.sums[layer][expert].tolist()
        wrong = [
            tensor.name
            for tensor, ours, theirs in zip(held.tensors, found, loaded, strict=True)
            if ours != theirs
        ]
        if wrong:
            side = "cold" if bank == COLD else "hot"
            raise CopyError(
                f"{held.name}, expert {expert}: {side} row {row} of {', '.join(wrong)} is not what"
                " was loaded"
            )

    def _demote(self, layer: int, expert: int) -> int:
        bank, (_, hot) = self.banks[layer], self.table.where(layer, expert)
        moved = 0
        if bank.mirrors:
            cold = expert
            self.wanted(layer, expert)
        else:
            if not self.spare[layer]:
                raise CopyError(f"{bank.name} has no spare cold row for expert {expert}")
            cold = self.spare[layer][-1]
            self.copy(bank.row(COLD, cold), bank.row(HOT, hot))
            self.verify(layer, expert, COLD, cold)
            self.spare[layer].pop()
            moved = bank.row_bytes
        self.table.point(layer, expert, COLD, cold)
        self.free[layer].append(hot)
        self.vacated(layer, HOT, hot)
        return moved

    def _promote(self, layer: int, expert: int) -> int:
        bank, (_, cold) = self.banks[layer], self.table.where(layer, expert)
        if not self.free[layer]:
            raise CopyError(f"{bank.name} has no free hot row for expert {expert}")
        hot = self.free[layer][-1]
        self.copy(bank.row(HOT, hot), bank.row(COLD, cold))
        self.verify(layer, expert, HOT, hot)
        self.free[layer].pop()
        self.table.point(layer, expert, HOT, hot)
        if not bank.mirrors:
            self.spare[layer].append(cold)
        self.vacated(layer, COLD, cold)
        return bank.row_bytes


def plain_copy(to: Rows, source: Rows) -> None:
    """Copy a row of every tensor, one after another."""
    for ours, theirs in zip(to, source, strict=True):
        ours.copy_(theirs)


def _unused(rows: int, state: NDArray[np.int32], bank: int) -> list[int]:
    """List the rows of a bank that no entry points to, last first."""
    used = {int(row) for where, row in zip(state[BANK], state[ROW], strict=True) if where == bank}
    return sorted(set(range(rows)) - used, reverse=True)


def _ignored(*_: int) -> None:
    """Do nothing where nobody listens."""
