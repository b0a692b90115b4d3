# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whole tensors that are brought into static buffers together, as a prefetching offloader does it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from expert_bank.staging.copies import Copies

# A buffer, and what is to be in it.
Pair = tuple[torch.Tensor, torch.Tensor]


@dataclass
class Onloaded:
    """What was done so far.

    Attributes:
        batches: Submitted, each of one layer's tensors.
        tensors: Copied by them.
        bytes: The same in bytes.
        captured: Tensors that were copied one by one while a graph was captured.
        unlike: The same, for their layout is not the buffer's, or a driver would not see them.
    """

    batches: int = 0
    tensors: int = 0
    bytes: int = 0
    captured: int = 0
    unlike: int = 0


class Onload:
    """Copies pairs behind what the current stream has.

    Attributes:
        done: What was done.
    """

    def __init__(self, copy: Callable[[Copies], int], capturing: Callable[[], bool]) -> None:
        """Take what copies.

        Args:
            copy: Makes or enqueues copies; gives how many bytes they are.
            capturing: Tells whether the current stream is captured into a graph.
        """
        self.done = Onloaded()
        self._copy = copy
        self._capturing = capturing

    def __call__(self, pairs: Sequence[Pair]) -> None:
        """Copy each source into its buffer; a graph that is captured gets a copy of its own for each.

        Raises:
            NotApart: Two buffers meet, or a buffer and a source.
            RuntimeError: Fewer bytes were submitted than the pairs have.
        """
        if self._capturing():
            self._one_by_one(pairs)
            self.done.captured += len(pairs)
            return
        batch = [each for each in pairs if _as_bytes(*each)]
        rest = [each for each in pairs if not _as_bytes(*each)]
        self._one_by_one(rest)
        self.done.unlike += len(rest)
        if not batch:
            return
        copies = Copies(
            np.array([buffer.data_ptr() for buffer, _ in batch], np.int64),
            np.array([source.data_ptr() for _, source in batch], np.int64),
            np.array([source.nbytes for _, source in batch], np.int64),
        )
        copied, wanted = self._copy(copies), sum(buffer.nbytes for buffer, _ in batch)
        if copied != wanted:
            raise RuntimeError(f"{copied} of {wanted} bytes of {len(batch)} tensors were copied")
        self.done.batches += 1
        self.done.tensors += len(batch)
        self.done.bytes += copied

    def told(self) -> dict[str, Any]:
        """Tell what was done, as values that JSON can carry."""
        return asdict(self.done)

    @staticmethod
    def _one_by_one(pairs: Sequence[Pair]) -> None:
        for buffer, source in pairs:
            buffer.copy_(source, non_blocking=True)


def _as_bytes(buffer: torch.Tensor, source: torch.Tensor) -> bool:
    """Tell whether a tensor's bytes, first to last, are the other one's, and a driver can take them."""
    if (buffer.dtype, buffer.shape, buffer.stride()) != (
        source.dtype,
        source.shape,
        source.stride(),
    ):
        return False
    # A buffer on a device is filled from host memory that the device knows, or the copy is not one of it.
    if buffer.device != source.device and not source.is_pinned():
        return False
    order = sorted(range(buffer.dim()), key=buffer.stride, reverse=True)
    return bool(buffer.numel()) and buffer.permute(order).is_contiguous()
