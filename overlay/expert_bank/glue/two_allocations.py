# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Room for a layer's two banks on a CUDA device: hot rows its own, cold rows the host's."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod

import torch
from vllm.utils.torch_utils import get_accelerator_view_from_cpu_tensor

from expert_bank.bank import RowTensor
from expert_bank.host_memory import HostMemory
from expert_bank.registration import Registration

ALIGNED = 64
Shapes = Mapping[str, tuple[torch.dtype, Sequence[int]]]


def device_view(rows: torch.Tensor) -> torch.Tensor:
    """Look at registered host memory as the device does."""
    view: torch.Tensor = get_accelerator_view_from_cpu_tensor(rows)
    return view


class TwoAllocations:
    """Allocates both banks of a layer at a time.

    Attributes:
        device: Where the hot rows go, and from where the cold ones are read in place.
        registrations: Keep the cold rows known to the device.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.registrations: list[Registration] = []

    def __call__(
        self, shapes: Shapes, hot: int, cold: int, memory: HostMemory
    ) -> tuple[RowTensor, ...]:
        """Allocate every row tensor's hot rows, and one mapping for all cold ones.

        Args:
            shapes: Dtype and shape of one row of each row tensor, by its name.
            hot: H.
            cold: C.
            memory: Where the mapping comes from, and what the device sees of it.

        Raises:
            Refused: The host's memory cannot be had, or cannot be registered.
        """
        sizes = [dtype.itemsize * prod(shape) * cold for dtype, shape in shapes.values()]
        padded = [-(-size // ALIGNED) * ALIGNED for size in sizes]
        pages = None
        if cold:
            pages = memory.map(sum(padded))
            runtime = torch.cuda.cudart()
            self.registrations.append(
                Registration(
                    pages,
                    register=lambda at, length: int(runtime.cudaHostRegister(at, length, 0)),
                    unregister=lambda at: int(runtime.cudaHostUnregister(at)),
                )
            )
        tensors = []
        offsets = accumulate(padded, initial=0)
        for (name, (dtype, shape)), offset in zip(shapes.items(), offsets, strict=False):
            hot_rows = torch.empty((hot, *shape), dtype=dtype, device=self.device)
            cold_rows = torch.empty((0, *shape), dtype=dtype, device=self.device)
            if pages is not None:
                cold_rows = memory.rows(pages, dtype, (cold, *shape), offset)
            tensors.append(RowTensor(name, hot_rows, cold_rows, None))
        return tuple(tensors)
