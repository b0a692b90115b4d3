# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Copies of rows between banks, and the proof that they were made."""

import torch


class RowCopies:
    """Up to N copies of each of M row tensors, made by one launch that a graph may hold.

    Whoever plans a swap writes addresses and ``count`` in place; the launch has the same grid for
    every count. Its tensors are allocated once, on the device.

    Attributes:
        destinations: int64[M, N], addresses of rows that are written.
        sources: int64[M, N], addresses of rows that are read; none is written by the same launch.
        row_bytes: M row sizes in bytes.
        count: int32[1], how many of the N copies of every row tensor are to be made.
        copied: int64[1], how many bytes all launches so far have copied.
    """

    def __init__(self, row_bytes: tuple[int, ...], *, rows: int, device: torch.device) -> None:
        if not row_bytes or min(row_bytes) < 1 or rows < 1:
            raise ValueError(f"no rows to copy: {rows} of {row_bytes} bytes")
        self.row_bytes = row_bytes
        shape = (len(row_bytes), rows)
        self.destinations = torch.zeros(shape, dtype=torch.int64, device=device)
        self.sources = torch.zeros(shape, dtype=torch.int64, device=device)
        self.count = torch.zeros(1, dtype=torch.int32, device=device)
        self.copied = torch.zeros(1, dtype=torch.int64, device=device)
        self._sizes = torch.tensor(row_bytes, dtype=torch.int64, device=device)

    def launch(self) -> None:
        """Enqueue the copies; may be captured, for nothing is read on the host."""
        from expert_bank.row_copy_triton import launch  # noqa: PLC0415 - CPU builds lack Triton

        launch(self.destinations, self.sources, self._sizes, self.count, self.copied)

    def run(self) -> int:
        """Launch, wait, and compare the bytes that were copied with those asked for.

        Returns:
            How many bytes this launch has copied: 0 for a count of 0.

        Raises:
            RuntimeError: The count is outside [0, N], or other than all bytes were copied.
        """
        before = int(self.copied.item())
        self.launch()
        copied = int(self.copied.item()) - before
        count = int(self.count.item())
        if not 0 <= count <= self.sources.shape[1] or copied != count * sum(self.row_bytes):
            raise RuntimeError(
                f"{count} copies of {self.row_bytes} bytes were asked for, at most "
                f"{self.sources.shape[1]} each; {copied} bytes were copied"
            )
        return copied
