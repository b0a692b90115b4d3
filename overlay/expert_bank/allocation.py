# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Room for a layer's two banks where device and host memory are one: on the CPU engine."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod

import torch

from expert_bank.bank import RowTensor
from expert_bank.host_memory import HostMemory

# Rows of a tensor start where the widest vector of a CPU, and a line of its caches, does.
ALIGNED = 64

Shapes = Mapping[str, tuple[torch.dtype, Sequence[int]]]


def one_allocation(
    shapes: Shapes, hot: int, cold: int, memory: HostMemory
) -> tuple[RowTensor, ...]:
    """Allocate ``[hot; cold]`` of every row tensor, one mapping a layer.

    Args:
        shapes: Dtype and shape of one row of each row tensor, by its name.
        hot: H.
        cold: C.
        memory: Where the mapping comes from.
    """
    sizes = [dtype.itemsize * prod(shape) * (hot + cold) for dtype, shape in shapes.values()]
    padded = [-(-size // ALIGNED) * ALIGNED for size in sizes]
    pages = memory.map(sum(padded))
    tensors = []
    offsets = accumulate(padded, initial=0)
    for (name, (dtype, shape)), offset in zip(shapes.items(), offsets, strict=False):
        whole = memory.rows(pages, dtype, (hot + cold, *shape), offset)
        tensors.append(RowTensor(name, whole[:hot], whole[hot:], whole))
    return tuple(tensors)
