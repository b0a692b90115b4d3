# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Memory of the staging buffer on a CPU, which every layer sees behind its own rows."""

import os
import weakref
from collections.abc import Mapping
from itertools import accumulate
from math import prod

from expert_bank import file_calls, node_binding, system_calls
from expert_bank.allocation import Shapes, one_allocation
from expert_bank.bank import RowTensor
from expert_bank.host_memory import HostMemory
from expert_bank.pages import HostPages, page_bytes, whole_pages
from expert_bank.refused import Refused
from expert_bank.sizes import told
from expert_bank.smaps import Measured, require_exact

# Of what the system tells as st_blocks, whatever a file system's own blocks are.
BLOCK = 512


class StagePool:
    """S rows of every row tensor, once, in memory that has no name.

    Attributes:
        rows: S.
        shapes: Dtype and shape of one row of each row tensor, by its name.
        size: Bytes that it takes, each tensor's in whole pages.
    """

    def __init__(self, shapes: Shapes, rows: int, memory: HostMemory) -> None:
        """Take the memory.

        Args:
            shapes: See ``StagePool``.
            rows: S, at least one.
            memory: By which it is bound.

        Raises:
            Refused: The system does not give it.
        """
        self.rows = rows
        self.shapes = dict(shapes)
        self._memory = memory
        self._sizes = {
            name: whole_pages(dtype.itemsize * prod(shape) * rows, page_bytes())
            for name, (dtype, shape) in shapes.items()
        }
        starts = accumulate(self._sizes.values(), initial=0)
        self._starts: Mapping[str, int] = dict(zip(shapes, starts, strict=False))
        self.size = sum(self._sizes.values())
        try:
            self._number = os.memfd_create("expert_bank-stage", os.MFD_CLOEXEC)
            # The mappings keep the memory; when the last of them goes, so does this.
            weakref.finalize(self, os.close, self._number)
            os.ftruncate(self._number, self.size)
        except OSError as error:
            raise _refused(self.size, error) from None
        self._first: dict[str, HostPages] = {}

    def behind(self, name: str, pages: HostPages) -> None:
        """Lay a tensor's rows over what a mapping has behind its own memory.

        Raises:
            Refused: The system does not map it.
        """
        address, size = pages.address + pages.held, self._sizes[name]
        try:
            file_calls.map_file(address, size, self._number, self._starts[name])
            system_calls.leave_out_of_forks(address, size)
        except OSError as error:
            raise _refused(size, error) from None
        # The memory is one, however often it is mapped.
        if name not in self._first:
            self._first[name] = pages
            if self._memory.bound_to is not None:
                node_binding.bind(address, size, self._memory.bound_to)

    def fill(self) -> None:
        """Have the system give all of it now; a later write finds it there.

        Raises:
            Refused: It does not.
        """
        try:
            os.posix_fallocate(self._number, 0, self.size)
        except OSError as error:
            raise _refused(self.size, error) from None

    def prove(self) -> str:
        """Measure what the system gave, and on which node it lies.

        Returns:
            A line for people.

        Raises:
            Refused: It is not the size of the arithmetic, or lies elsewhere.
        """
        given = os.fstat(self._number).st_blocks * BLOCK
        row = sum(dtype.itemsize * prod(shape) for dtype, shape in self.shapes.values())
        require_exact(
            Measured(self.size, given, swapped=0),
            row * self.rows,
            filled=True,
            what="staging buffer",
            rounding=page_bytes() * len(self.shapes),
        )
        place = self._memory.place([self._seen(*each) for each in self._first.items()])
        return (
            f"staging buffer: {told(self.size)} of host memory for {self.rows} rows,"
            f" {told(given)} in memory, {place}"
        )

    def _seen(self, name: str, pages: HostPages) -> tuple[int, int]:
        """Read of each page of a tensor's rows: the kernel tells of those alone that were touched here."""
        bytes(pages.view(pages.held)[:: page_bytes()])
        return pages.address + pages.held, self._sizes[name]


class StagedAllocation:
    """Allocates ``[hot; cold; stage]`` of every row tensor, a mapping each; the last part is shared.

    Rows need not fill pages: the first hot one begins so far within the first page that the last cold
    one ends where a page does.

    Attributes:
        rows: S.
        pool: What all layers share; from the first of them on.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.pool: StagePool | None = None

    def __call__(
        self, shapes: Shapes, hot: int, cold: int, memory: HostMemory
    ) -> tuple[RowTensor, ...]:
        """Allocate a layer's.

        Args:
            shapes: Dtype and shape of one row of each row tensor, by its name.
            hot: H.
            cold: C.
            memory: Where hot and cold rows come from.

        Raises:
            Refused: The system does not give it, or the layer's rows are not those of the first one.
        """
        if not cold:
            return one_allocation(shapes, hot, cold, memory)
        pool = self.pool = self.pool or StagePool(shapes, self.rows, memory)
        if pool.shapes != dict(shapes):
            raise Refused(
                "moe_prefill_stage: layers whose rows have several shapes share no buffer",
                hint="take moe_prefill_stage out",
            )
        tensors = []
        for name, (dtype, shape) in shapes.items():
            row = dtype.itemsize * prod(shape)
            own = row * (hot + cold)
            held = whole_pages(own, page_bytes())
            pages = memory.take(HostPages(held + row * pool.rows, held))
            pool.behind(name, pages)
            whole = memory.rows(pages, dtype, (hot + cold + pool.rows, *shape), held - own)
            parts = whole[:hot], whole[hot : hot + cold], whole, whole[hot + cold :]
            tensors.append(RowTensor(name, *parts))
        pool.fill()
        return tuple(tensors)


def _refused(length: int, error: OSError) -> Refused:
    return Refused(
        f"the system does not give {told(length)} for the staging buffer: {error.strerror}",
        hint="ask for a smaller moe_prefill_stage, or none",
    )
