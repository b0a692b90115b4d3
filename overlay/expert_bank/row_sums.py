# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Sums that tell one row's bytes from another's, on any device."""

import math
from collections.abc import Sequence

import torch

# Rows are summed in parts of about this many bytes, to bound what the products take.
PART = 64 * 2**20


def row_sums(rows: torch.Tensor) -> torch.Tensor:
    """Sum every row's words, each times an odd number of its own, modulo 2**64.

    One changed word always changes the sum, for an odd factor has an inverse; two words that
    change places do, too.

    Args:
        rows: [N, ...] of any dtype, contiguous.

    Returns:
        int64[N], on the rows' device.
    """
    words = _words(rows)
    count, width = words.shape
    factors = torch.arange(1, 2 * width, 2, dtype=torch.int64, device=rows.device)
    sums = torch.empty(count, dtype=torch.int64, device=rows.device)
    step = max(1, PART // max(1, width * 8))
    for start in range(0, count, step):
        part = words[start : start + step].to(torch.int64)
        torch.sum(part * factors, dim=1, out=sums[start : start + step])
    return sums


def tensor_sums(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """Sum the rows of several tensors with the same N, int64[N, number of tensors]."""
    return torch.stack([row_sums(each) for each in tensors], dim=1)


def _words(rows: torch.Tensor) -> torch.Tensor:
    """View rows as the widest integers that divide them."""
    flat = rows.reshape(rows.shape[0], math.prod(rows.shape[1:]))
    size = flat.shape[1] * flat.element_size()
    for wide in (torch.int64, torch.int32, torch.int16):
        if size % wide.itemsize == 0:
            return flat.view(wide)
    return flat.view(torch.uint8)
