# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Where rows lie: device addresses of rows of two banks."""

import torch

from expert_bank.table_layout import BANK, ROW

ALIGNED = 16


def row_bytes(rows: torch.Tensor) -> int:
    """Tell how long a row of a row tensor is.

    Args:
        rows: [R, ...], contiguous.

    Raises:
        ValueError: It is not contiguous, so that a row has no one place.
    """
    if not rows.is_contiguous():
        raise ValueError(f"rows of shape {tuple(rows.shape)} are not contiguous")
    size: int = rows.stride(0) * rows.element_size()
    return size


def expert_addresses(table: torch.Tensor, hot: torch.Tensor, cold: torch.Tensor) -> torch.Tensor:
    """Addresses of every expert's row, whichever bank it is in.

    Args:
        table: int32[4, E] on the device, see ``expert_bank.table_layout``.
        hot: [H, ...], one row tensor's hot bank, contiguous.
        cold: [C, ...], the same row tensor's cold bank, contiguous.

    Returns:
        int64[E] on the device; each a multiple of 16.

    Raises:
        ValueError: The banks hold different rows, or rows that do not start at multiples of 16.
    """
    size = row_bytes(hot)
    if (hot.shape[1:], hot.dtype) != (cold.shape[1:], cold.dtype) or size != row_bytes(cold):
        raise ValueError(
            f"hot rows are {hot.dtype}{list(hot.shape[1:])}, cold rows are "
            f"{cold.dtype}{list(cold.shape[1:])}"
        )
    if (hot.data_ptr() | cold.data_ptr() | size) % ALIGNED:
        raise ValueError(f"rows of {size} bytes do not all start at a multiple of {ALIGNED}")
    bank, row = table[BANK].to(torch.int64), table[ROW].to(torch.int64)
    return bank * (cold.data_ptr() - hot.data_ptr()) + row * size + hot.data_ptr()
