# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One swap of a layer's rows, at a drained barrier."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from expert_bank.bank import LayerBank
from expert_bank.loaded_rows import LoadedRows
from expert_bank.refused import worded
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
        failure: Why it did not come to its end, and what else is wrong with the layer; then an
            expert stays where it was. Empty where all went well.
    """

    swap: Swap
    bytes: int
    failure: str = ""


class Swapper:
    """Moves rows and the entries that point to them; the device must be drained.

    The order is: demote flip, copy, verify, promote flip. Whatever fails on the way, and however,
    leaves both experts on whole rows: slow, and right, and told. Where a hot row is free and no cold one is, the
    promotion goes first, and makes room for the demotion.

    Attributes:
        banks: Of all layers, in load order.
        table: Points into them.
        loaded: What each row must hold.
        vacated: Called with layer, bank and row once no entry points there, and where a copy to
            there failed.
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
        self.loaded = LoadedRows(banks, sums)
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
        layer, moved = swap.layer, 0
        if failure := self._unmended(layer):
            return Swapped(swap, moved, failure)
        steps = [(self._demote, swap.demote), (self._promote, swap.promote)]
        if self.free[layer] and not self.spare[layer] and not self.banks[layer].mirrors:
            steps.reverse()
        for step, expert in steps:
            if expert is not None:
                try:
                    moved += step(layer, expert)
                except CopyError as error:
                    return Swapped(swap, moved, str(error))
                except Exception as error:  # noqa: BLE001 - hooks and tables raise what they like
                    return Swapped(swap, moved, self._said(layer, expert, error))
        return Swapped(swap, moved)

    def _unmended(self, layer: int) -> str:
        """Say why a layer has entries of which two rows are not to be touched; empty where none."""
        try:
            self.table.mend(layer)
        except Exception as error:  # noqa: BLE001 - the same
            (expert, *_) = sorted(self.table.torn[layer])
            return f"{self._said(layer, expert, error)}; its entry is still not as it was"
        return ""

    def _said(self, layer: int, expert: int, error: Exception) -> str:
        return f"{self.banks[layer].name}, expert {expert}: {worded(error)}"

    def _copy(self, layer: int, expert: int, bank: int, row: int) -> None:
        """Copy an expert's row to one that no entry points to, and verify it there.

        Raises:
            CopyError: It did not get there, or the copy said that it failed.
        """
        held, said = self.banks[layer], []
        try:
            self.copy(held.row(bank, row), held.row(*self.table.where(layer, expert)))
        except Exception as error:  # noqa: BLE001 - a pull request's copy may raise what it likes
            said = [
                f"{self.loaded.told(layer, expert, bank, row)} was not copied to: {worded(error)}"
            ]
        if wrong := self._wrong(layer, expert, bank, row):
            said.append(wrong)
        if said:
            self.vacated(layer, bank, row)
            raise CopyError("; ".join([*said, *self._damaged(layer, bank)]))

    def _damaged(self, layer: int, bank: int) -> Iterator[str]:
        """Say which experts' rows a failed copy hit; those with a mirror are read from there."""
        for expert in np.flatnonzero(self.table.host[layer, BANK] == bank).tolist():
            if wrong := self._wrong(layer, expert, *self.table.where(layer, expert)):
                yield wrong
                if bank == HOT and self.banks[layer].mirrors:
                    try:
                        self._demote(layer, expert)
                    except Exception as error:  # noqa: BLE001 - the same
                        yield f"{self._said(layer, expert, error)}, so it is still served from there"

    def _wrong(self, layer: int, expert: int, bank: int, row: int) -> str:
        """Say what is wrong with a row, or why nobody can tell."""
        try:
            return self.loaded.wrong(layer, expert, bank, row)
        except Exception as error:  # noqa: BLE001 - a device's errors are of many kinds
            return f"{self.loaded.told(layer, expert, bank, row)} was not checked: {worded(error)}"

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
            self._copy(layer, expert, COLD, cold)
            moved = bank.row_bytes
        self.table.point(layer, expert, COLD, cold)
        if not bank.mirrors:
            self.spare[layer].pop()
        self.free[layer].append(hot)
        self.vacated(layer, HOT, hot)
        return moved

    def _promote(self, layer: int, expert: int) -> int:
        bank, (_, cold) = self.banks[layer], self.table.where(layer, expert)
        if not self.free[layer]:
            raise CopyError(f"{bank.name} has no free hot row for expert {expert}")
        hot = self.free[layer][-1]
        self._copy(layer, expert, HOT, hot)
        self.table.point(layer, expert, HOT, hot)
        self.free[layer].pop()
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
