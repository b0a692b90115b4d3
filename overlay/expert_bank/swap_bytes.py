# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What one swap copies, and bytes of a barrier that take none."""

from collections.abc import Iterable

from expert_bank.plan import Mode, mirrored
from expert_bank.refused import Refused


def rows_per_swap(mode: Mode) -> int:
    """Rows that a swap copies: the cold one in, and before it the hot one out where it has no mirror."""
    return 1 if mirrored(mode) else 2


def require_swap(budget: float | None, row_bytes: Iterable[int], mode: Mode) -> None:
    """Refuse bytes of a barrier that take no swap of any layer.

    Args:
        budget: The most that one barrier may copy; None for no bound.
        row_bytes: Of one expert's row, by layer.
        mode: Of the cold rows.

    Raises:
        Refused: With the bytes of the smallest swap.
    """
    rows = rows_per_swap(mode)
    least = rows * min(row_bytes)
    if budget is not None and budget < least:
        copied = "a row" if rows == 1 else "two rows"
        raise Refused(
            f"moe_follow: {budget} bytes a barrier take no swap: with moe_cold_rows {mode} one copies"
            f" {copied}, {least} bytes",
            hint=f"give at least {least}, or leave bytes out for no bound",
        )
