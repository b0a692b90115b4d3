# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Room for a layer's two banks on a CUDA device: hot rows its own, cold rows the host's."""

import torch

from expert_bank.allocation import Shapes, mapped_bytes, mapped_rows
from expert_bank.bank import RowTensor
from expert_bank.cuda_registration import register_with_cuda, unregister_with_cuda
from expert_bank.host_memory import HostMemory
from expert_bank.refused import Refused
from expert_bank.registration import Register, Registration, Unregister


class TwoAllocations:
    """Allocates both banks of a layer at a time.

    Attributes:
        device: Where the hot rows go, and from where the cold ones are read in place.
        registrations: Keep the cold rows known to the device.
        buffer: By name [S, ...] of each row tensor, which all layers share; empty where nothing is staged.
    """

    def __init__(
        self,
        device: torch.device,
        register: Register = register_with_cuda,
        unregister: Unregister = unregister_with_cuda,
        stage: int = 0,
    ) -> None:
        self.device = device
        self.registrations: list[Registration] = []
        self.buffer: dict[str, torch.Tensor] = {}
        self._stage = stage
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
            Refused: The host's memory cannot be had, or cannot be registered; or the layer's rows do not
                fit the buffer that the layers share.
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
        stage = self._staged(shapes) if self._stage and cold else {}
        return tuple(
            RowTensor(
                name,
                torch.empty((hot, *shape), dtype=dtype, device=self.device),
                cold_rows[name],
                None,
                stage.get(name),
            )
            for name, (dtype, shape) in shapes.items()
        )

    def _staged(self, shapes: Shapes) -> dict[str, torch.Tensor]:
        """Make the buffer for the first layer; it is every other one's, too."""
        if not self.buffer:
            self.buffer = {
                name: torch.empty((self._stage, *shape), dtype=dtype, device=self.device)
                for name, (dtype, shape) in shapes.items()
            }
        found = {name: (each.dtype, tuple(each.shape[1:])) for name, each in self.buffer.items()}
        if found != {name: (dtype, tuple(shape)) for name, (dtype, shape) in shapes.items()}:
            raise Refused(
                "moe_prefill_stage: layers whose rows have several shapes share no buffer",
                hint="take moe_prefill_stage out",
            )
        return self.buffer
