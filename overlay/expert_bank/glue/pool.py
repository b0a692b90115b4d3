# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""vLLM's pool of device memory that may sleep, as ``expert_bank.asleep`` wants it."""

from vllm.device_allocator import get_mem_allocator_instance
from vllm.distributed.device_communicators.cuda_wrapper import CudaRTLibrary

from expert_bank.asleep import Allocation
from expert_bank.ranges import Range

# What vLLM's own sleep backs up at every level; before 0.32 there is none of it.
BACKED_UP = ("runtime", "cudagraph")


class CuMemPool:
    """The pool of this process."""

    def __init__(self) -> None:
        self._allocator = get_mem_allocator_instance()
        self._runtime = CudaRTLibrary()

    def allocations(self) -> list[Allocation]:
        """List all of it, as it is now."""
        return [
            Allocation(Range(address, address + data.handle[1]), data.tag, data.is_asleep)
            for address, data in self._allocator.pointer_to_data.items()
        ]

    def backed_up(self, tag: str) -> bool:
        """Tell whether vLLM backs a tag's bytes up itself, at every level."""
        return tag in BACKED_UP

    def move(self, to: int, source: int, length: int) -> None:
        """Copy bytes; done when it returns, where the host's side is known to the device."""
        self._runtime.cudaMemcpy(to, source, length)
