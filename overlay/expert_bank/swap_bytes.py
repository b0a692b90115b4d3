# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What one swap copies, and bytes of a barrier that take none."""

from collections.abc import Mapping

from expert_bank.plan import Mode, mirrored
from expert_bank.refused import Refused

# What lets a barrier take no swap: a map that is frozen still follows.
END = "end following: no moe_follow, or expert_bank_follow null"


def rows_per_swap(mode: Mode) -> int:
    """Rows that a swap copies: the cold one in, and before it the hot one out where it has no mirror."""
    return 1 if mirrored(mode) else 2


def require_swap(budget: float | None, row_bytes: Mapping[str, int], mode: Mode) -> None:
    """Refuse bytes of a barrier that take no swap of some layer.

    Args:
        budget: The most that one barrier may copy; None for no bound.
        row_bytes: Of one expert's row, by the name of each layer that has something to swap.
        mode: Of the cold rows.

    Raises:
        Refused: With the largest swap, and whose it is.
    """
    name = max(row_bytes, key=lambda each: row_bytes[each], default=None)
    if budget is None or name is None:
        return
    rows = rows_per_swap(mode)
    needed = rows * row_bytes[name]
    if budget < needed:
        copied = "a row" if rows == 1 else "two rows"
        raise Refused(
            f"moe_follow: {budget} bytes a barrier take no swap of {name}: with moe_cold_rows {mode}"
            f" one copies {copied}, {needed} bytes",
            hint=f"give at least {needed}, leave bytes out for no bound, or {END}",
        )
