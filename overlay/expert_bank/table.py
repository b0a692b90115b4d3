# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Where each expert of each layer is: the device's table, and the host's copy of it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from expert_bank.table_layout import BANK, GENERATION, HOT, PLACE, ROW

NOWHERE = -1


class Table:
    """Bank, row, generation and place of every logical expert, one int32[4, E] a layer.

    A *place* counts through the rows ``[hot; cold]``: the row itself in the hot bank, and H + row
    in the cold one. The device tensors are allocated once and only ever written in place, so that
    a captured graph may hold their addresses; an expert's entry is written whole, in one copy. The
    host keeps the same numbers, so that nothing has to be read back.

    Attributes:
        hot: H of each layer.
        device: int32[4, E] of each layer, on the device.
        host: The same, int32[L, 4, E] in host memory.
        before: Called before an entry changes.
        watchers: Called with the layer after each of its entries that changes.
        torn: By layer, the experts whose change failed and could not be taken back: the device, or
            a watcher, may still send their picks to the other of two rows.
    """

    def __init__(self, hot: Sequence[int], experts: int, device: torch.device) -> None:
        self.hot = tuple(hot)
        self.before: list[Callable[[], None]] = []
        self.watchers: list[Callable[[int], None]] = []
        self.torn: tuple[set[int], ...] = tuple(set() for _ in self.hot)
        self.host: NDArray[np.int32] = np.full((len(self.hot), 4, experts), NOWHERE, np.int32)
        self.host[:, GENERATION] = 0
        self.device = tuple(
            torch.zeros((4, experts), dtype=torch.int32, device=device) for _ in self.hot
        )

    def point(self, layer: int, expert: int, bank: int, row: int) -> None:
        """Send an expert's picks to another row from the next forward on.

        Args:
            layer: Place of the layer in load order.
            expert: Logical expert.
            bank: ``HOT`` or ``COLD``.
            row: Row in that bank.

        Raises:
            Exception: Whatever a write, a watcher or what stands before it raises; the entry is as it
                was, on the device and for every watcher too where that can still be told, and else
                ``torn``.
        """
        for settle in self.before:
            settle()
        entry = self.host[layer, :, expert]
        was = entry.copy()
        # An array's sum wraps, a single number's warns.
        entry[[GENERATION]] += 1
        entry[[BANK, ROW, PLACE]] = bank, row, row + self.hot[layer] * bank
        try:
            self._write(layer, expert)
        except Exception:
            entry[:] = was
            self.torn[layer].add(expert)
            with suppress(Exception):
                self.mend(layer)
            raise

    def mend(self, layer: int) -> None:
        """Bring a layer's torn entries to the device and to every watcher; there are hardly ever any.

        Raises:
            Exception: The first that a write or a watcher raises; the others were called, too.
        """
        for expert in sorted(self.torn[layer]):
            failed = [*self._failures(layer, expert)]
            if failed:
                raise failed[0]
            self.torn[layer].remove(expert)

    def fill(self, layer: int, banks: Sequence[int], rows: Sequence[int]) -> None:
        """Set a whole layer at boot, generation 1.

        Args:
            layer: Place of the layer in load order.
            banks: Of each expert.
            rows: Of each expert, in its bank.
        """
        for settle in self.before:
            settle()
        state = self.host[layer]
        state[BANK], state[ROW], state[GENERATION] = banks, rows, 1
        state[PLACE] = state[ROW] + self.hot[layer] * state[BANK]
        self.write_layer(layer)
        for each in self.watchers:
            each(layer)

    def _write(self, layer: int, expert: int) -> None:
        self.write_entry(layer, expert)
        for each in self.watchers:
            each(layer)

    def _failures(self, layer: int, expert: int) -> Iterator[Exception]:
        """Do as ``_write``, and go on behind what raises."""
        watching = (partial(each, layer) for each in self.watchers)
        for act in (partial(self.write_entry, layer, expert), *watching):
            try:
                act()
            except Exception as error:  # noqa: BLE001 - a pull request's may raise what it likes
                yield error

    def write_entry(self, layer: int, expert: int) -> None:
        """Bring the host's entry of an expert to the device."""
        entry = self.host[layer, :, expert].copy()
        self.device[layer][:, expert].copy_(torch.from_numpy(entry))

    def write_layer(self, layer: int) -> None:
        """Bring the host's entries of a layer to the device."""
        self.device[layer].copy_(torch.from_numpy(self.host[layer]))

    def is_hot(self) -> list[NDArray[np.bool_]]:
        """Tell which experts are hot, bool[E] of each layer."""
        return [state[BANK] == HOT for state in self.host]

    def where(self, layer: int, expert: int) -> tuple[int, int]:
        """Give an expert's bank and row."""
        bank, row = self.host[layer, [BANK, ROW], expert]
        return int(bank), int(row)

    def agrees(self) -> bool:
        """Tell whether the device's entries are the host's; waits for the device."""
        return not any(self.differing(layer) for layer in range(len(self.hot)))

    def differing(self, layer: int) -> list[int]:
        """List the experts whose entry the device has otherwise; waits for the device."""
        read = self.device[layer].cpu().numpy()
        return [int(expert) for expert in np.flatnonzero((read != self.host[layer]).any(axis=0))]
