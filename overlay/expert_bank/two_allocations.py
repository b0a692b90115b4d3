# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Room for a layer's two banks on a CUDA device: hot rows its own, cold rows the host's."""

import torch

from expert_bank.allocation import Shapes, mapped_bytes, mapped_rows
from expert_bank.bank import RowTensor
from expert_bank.cuda_registration import register_with_cuda, unregister_with_cuda
from expert_bank.host_memory import HostMemory
from expert_bank.registration import Register, Registration, Unregister


class TwoAllocations:
    """Allocates both banks of a layer at a time.

    Attributes:
        device: Where the hot rows go, and from where the cold ones are read in place.
        registrations: Keep the cold rows known to the device.
    """

    def __init__(
        self,
        device: torch.device,
        register: Register = register_with_cuda,
        unregister: Unregister = unregister_with_cuda,
    ) -> None:
        self.device = device
        self.registrations: list[Registration] = []
        self._register = register
        self._unregister = unregister

    def __call__(
        self, shapes: Shapes, hot: int, cold: int, memory: HostMemory
    ) -> tuple[RowTensor, ...]:
        """Allocate every row tensor's hot rows, and one mapping for all cold ones.

        Args:
            shapes: See ``expert_bank.allocation``.
            hot: H.
            cold: C.
            memory: Where the mapping comes from, and what the device sees of it.

        Raises:
            Refused: The host's memory cannot be had, or cannot be registered.
        """
        cold_rows = {
            name: torch.empty((0, *shape), dtype=dtype, device=self.device)
            for name, (dtype, shape) in shapes.items()
        }
        if cold:
            pages = memory.map(mapped_bytes(shapes, cold))
            self.registrations.append(
                Registration(pages, register=self._register, unregister=self._unregister)
            )
            cold_rows = mapped_rows(shapes, cold, memory, pages)
        return tuple(
            RowTensor(
                name,
                torch.empty((hot, *shape), dtype=dtype, device=self.device),
                cold_rows[name],
                None,
            )
            for name, (dtype, shape) in shapes.items()
        )
