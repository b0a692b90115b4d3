# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Room for a layer's banks where the cold one is a file's: on the CPU engine."""

from collections.abc import Sequence
from math import prod

from expert_bank.allocation import Shapes
from expert_bank.bank import RowTensor
from expert_bank.cold_file import ColdFile
from expert_bank.file_pages import FilePages
from expert_bank.host_memory import HostMemory


class FileAllocation:
    """Allocates ``[hot; cold]`` of every row tensor, a mapping each."""

    def __init__(self, file: ColdFile) -> None:
        self.file = file

    def __call__(
        self, shapes: Shapes, hot: int, cold: int, memory: HostMemory
    ) -> tuple[RowTensor, ...]:
        """Allocate a layer's; the hot rows are locked.

        Args:
            shapes: Dtype and shape of one row of each row tensor, by its name.
            hot: H.
            cold: C.
            memory: What the hot rows are bound and proven by.

        Raises:
            Refused: The disk, a limit or the system stands against it.
        """
        tensors = []
        for name, (dtype, shape) in shapes.items():
            row = dtype.itemsize * prod(shape)
            pages = FilePages(row * hot, row * cold, self.file)
            memory.take(pages)
            pages.lock()
            whole = memory.rows(pages, dtype, (hot + cold, *shape), pages.lead)
            tensors.append(RowTensor(name, whole[:hot], whole[hot:], whole))
        return tuple(tensors)


class ReadAhead:
    """Asks the disk for cold rows of a layer before they are touched, which is page by page."""

    def __init__(self, file: ColdFile, tensors: Sequence[RowTensor]) -> None:
        self._file = file
        self._rows = [
            (each.cold.data_ptr(), each.cold[0].nbytes) for each in tensors if len(each.cold)
        ]

    def __call__(self, row: int) -> None:
        """Ask for a row of every tensor; returns before it has come."""
        for first, length in self._rows:
            self._file.ask(first + row * length, length)
