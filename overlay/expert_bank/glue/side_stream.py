# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Copies on a CUDA device's side stream, as batches of the driver's."""

from dataclasses import dataclass

import torch
from vllm._custom_ops import swap_blocks_batch

from expert_bank.staging.batched import BatchedCopy
from expert_bank.staging.copies import Addresses, Copies
from expert_bank.staging.side_thread import Pending


def submit(source: Addresses, to: Addresses, sizes: Addresses) -> None:
    """Enqueue copies on the current stream by vLLM's own op: one call of the driver from CUDA 12.8 on."""
    swap_blocks_batch(*(torch.from_numpy(each) for each in (source, to, sizes)))


@dataclass(frozen=True)
class _Enqueued:
    bytes: int
    done: torch.cuda.Event

    def wait(self) -> int:
        """Have the current stream go on behind the copies; the host goes on at once."""
        torch.cuda.current_stream().wait_event(self.done)
        return self.bytes


class SideStream:
    """A stream beside that of the forwards."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)
        self.copy = BatchedCopy(submit, torch.cuda.is_current_stream_capturing)

    def begin(self, copies: Copies) -> Pending:
        """Enqueue copies behind all that the forwards' stream has by now.

        Raises:
            CopyRefusedError: A graph is captured.
            NotApart: Ranges meet.
        """
        before = torch.cuda.current_stream().record_event()
        with torch.cuda.stream(self._stream):
            self._stream.wait_event(before)
            moved = self.copy(copies)
            return _Enqueued(moved, self._stream.record_event())
