# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Sums that tell one row's bytes from another's, on any device."""

import math
from collections.abc import Iterator, Sequence

import torch

# How many words are multiplied at a time: on a CPU their products stay in its caches.
CPU_WORDS = 2**17
DEVICE_WORDS = 2**23


def row_sums(rows: torch.Tensor) -> torch.Tensor:
    """Sum every row's words, each times its number, the first one's 1, modulo 2**64.

    One changed word always changes the sum, and so do two unequal words that change places: words
    have 32 bits at most, so what the sum changes by is a product of two numbers below 2**32, never
    a multiple of 2**64 but 0.

    Args:
        rows: [N, ...] of any dtype; a row has fewer than 2**31 words.

    Returns:
        int64[N], on the rows' device.
    """
    words = _words(rows)
    most = CPU_WORDS if rows.device.type == "cpu" else DEVICE_WORDS
    count, width = words.shape
    factors = torch.arange(1, min(width, most) + 1, dtype=torch.int64, device=rows.device)
    sums = torch.zeros(count, dtype=torch.int64, device=rows.device)
    for row, column in _parts(count, width, most):
        part = words[row, column]
        weighted = (part * factors[: part.shape[1]]).sum(1)
        sums[row] += weighted + column.start * part.sum(1, dtype=torch.int64)
    return sums


def tensor_sums(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Sum the rows of several tensors with the same N, int64[N, number of tensors]."""
    return torch.stack([row_sums(each) for each in tensors], dim=1)


def _parts(count: int, width: int, most: int) -> Iterator[tuple[slice, slice]]:
    """Cut [count, width] into parts of whole rows, or of one row's columns, of at most that many."""
    rows = max(1, most // max(1, width))
    for row in range(0, count, rows):
        for column in range(0, width, most):
            yield slice(row, row + rows), slice(column, column + most)


def _words(rows: torch.Tensor) -> torch.Tensor:
    """View rows as the widest integers, of 32 bits at most, that divide them."""
    flat = rows.reshape(rows.shape[0], math.prod(rows.shape[1:])).contiguous()
    if not flat.numel():
        return flat.new_zeros(flat.shape, dtype=torch.uint8)
    size = flat.shape[1] * flat.element_size()
    for wide in (torch.int32, torch.int16):
        if size % wide.itemsize == 0:
            if flat.storage_offset() * flat.element_size() % wide.itemsize:
                flat = flat.clone()
            return flat.view(wide)
    return flat.view(torch.uint8)
