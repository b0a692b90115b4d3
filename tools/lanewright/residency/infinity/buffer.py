"""The buffer that all layers share: what is in it, what is on its way, and who goes."""

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]  # l * E + e


class Buffer:
    """Rows of experts, by cell ``l * E + e``.

    Attributes:
        room: Rows that are free.
        held: bool[L*E], has a row, and be it on its way.
        arrives: float64[L*E], when it is there, in seconds.
        in_use: bool[L*E], picked by the layer that runs: never evicted.
        awaited: bool[L*E], prefetched for a layer that is still to come: evicted for no other
            prefetch.
        unused: bool[L*E], prefetched and never picked.
        wasted: Rows that were prefetched and evicted without a pick.
    """

    def __init__(self, cells: int, rows: int) -> None:
        self.room = rows
        self.held = np.zeros(cells, np.bool_)
        self.arrives = np.zeros(cells)
        self.in_use = np.zeros(cells, np.bool_)
        self.awaited = np.zeros(cells, np.bool_)
        self.unused = np.zeros(cells, np.bool_)
        self.wasted = 0

    def use(self, cells: Cells, layer: slice) -> None:
        """Note what a layer has picked; what was prefetched for it and is not in it was wrong.

        Args:
            cells: Its picks.
            layer: All cells of the layer.
        """
        self.in_use[cells] = True
        self.awaited[layer] = False
        self.unused[cells] = False

    def make_room(self, many: int, worth: NDArray[np.float64], now: float) -> int:
        """Evict what is worth least, for a demand; what is awaited goes after all others.

        Args:
            many: Rows that are needed.
            worth: float64[L*E]; of two alike the first goes.
            now: What is not there by then is not evicted.

        Returns:
            Rows that there are, ``many`` at most.
        """
        if (lacking := many - self.room) > 0:
            able = self.held & ~self.in_use & (self.arrives <= now)
            for victims in (able & ~self.awaited, able & self.awaited):
                self._evict(victims, worth, lacking)
                lacking = many - self.room
                if lacking <= 0:
                    break
        return min(many, self.room)

    def make_place(self, worth: NDArray[np.float64], now: float, spared: NDArray[np.bool_]) -> bool:
        """Do the same for one prefetch, which evicts nothing that is awaited or spared."""
        if not self.room:
            able = self.held & ~self.in_use & (self.arrives <= now) & ~self.awaited & ~spared
            self._evict(able, worth, 1)
        return self.room > 0

    def put(self, cells: Cells | int, arrives: float | NDArray[np.float64]) -> None:
        """Give rows to cells that are sent; there is room."""
        self.held[cells] = True
        self.arrives[cells] = arrives
        self.room -= int(np.size(cells))

    def await_(self, cell: int, arrives: float) -> None:
        """Give a row to a cell that is prefetched."""
        self.put(cell, arrives)
        self.awaited[cell] = self.unused[cell] = True

    def _evict(self, able: NDArray[np.bool_], worth: NDArray[np.float64], many: int) -> None:
        candidates = np.flatnonzero(able)
        order = np.argsort(worth[candidates], kind="stable")[:many]
        victims = candidates[order]
        self.held[victims] = self.awaited[victims] = False
        self.wasted += int(self.unused[victims].sum())
        self.unused[victims] = False
        self.room += len(victims)
