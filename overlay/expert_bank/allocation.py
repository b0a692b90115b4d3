# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Room for a layer's banks in one mapping, and both of them there: on the CPU engine."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod

import torch

from expert_bank.bank import RowTensor
from expert_bank.host_memory import HostMemory
from expert_bank.pages import HostPages

# Rows of a tensor start where the widest vector of a CPU, and a line of its caches, does.
ALIGNED = 64

# Dtype and shape of one row of each row tensor, by its name.
Shapes = Mapping[str, tuple[torch.dtype, Sequence[int]]]


def mapped_bytes(shapes: Shapes, rows: int) -> int:
    """Tell how long a mapping of so many rows of every row tensor is."""
    return sum(_padded(shapes, rows))


def mapped_rows(
    shapes: Shapes, rows: int, memory: HostMemory, pages: HostPages
) -> dict[str, torch.Tensor]:
    """Look at a mapping as rows of every row tensor, one tensor behind the other.

    Args:
        shapes: See ``Shapes``.
        rows: Of each tensor.
        memory: Whose the mapping is.
        pages: At least ``mapped_bytes``; known to the device, where that is another.

    Returns:
        [rows, ...] by name, each at a multiple of ``ALIGNED`` bytes.
    """
    offsets = accumulate(_padded(shapes, rows), initial=0)
    return {
        name: memory.rows(pages, dtype, (rows, *shape), offset)
        for (name, (dtype, shape)), offset in zip(shapes.items(), offsets, strict=False)
    }


def one_allocation(
    shapes: Shapes, hot: int, cold: int, memory: HostMemory
) -> tuple[RowTensor, ...]:
    """Allocate ``[hot; cold]`` of every row tensor, one mapping a layer.

    Args:
        shapes: See ``Shapes``.
        hot: H.
        cold: C.
        memory: Where the mapping comes from.
    """
    pages = memory.map(mapped_bytes(shapes, hot + cold))
    found = mapped_rows(shapes, hot + cold, memory, pages)
    return tuple(RowTensor(name, whole[:hot], whole[hot:], whole) for name, whole in found.items())


def _padded(shapes: Shapes, rows: int) -> list[int]:
    """Bytes of each row tensor, up to where the next one starts."""
    sizes = [dtype.itemsize * prod(shape) * rows for dtype, shape in shapes.values()]
    return [-(-size // ALIGNED) * ALIGNED for size in sizes]
