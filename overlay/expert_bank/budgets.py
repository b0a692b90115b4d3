# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What one barrier may copy and how long it may take, and whether a map can follow with that."""

from expert_bank.refused import Refused
from expert_bank.two_bank import TwoBank


def limit(two_bank: TwoBank, byte_budget: int | None, second_budget: float | None) -> None:
    """Limit one barrier; None for no limit.

    Raises:
        Refused: One is below zero, or no number; or the map follows, and a budget takes no swap.
            Nothing was changed.
    """
    if two_bank.following is not None:
        require_room(two_bank, byte_budget, second_budget)
    two_bank.barrier.limit(byte_budget, second_budget)


def require_room(two_bank: TwoBank, byte_budget: int | None, second_budget: float | None) -> None:
    """Refuse budgets of a barrier that take no swap of some layer; None for no bound.

    Raises:
        Refused: The same; it names the layer.
    """
    banks = two_bank.swapper.banks
    rows = rows_per_swap(two_bank)
    moving = [bank for bank in banks if 0 < bank.hot < bank.experts]
    largest = max(moving, key=lambda bank: bank.row_bytes, default=None)
    if largest is None:
        return
    needed = largest.row_bytes * rows
    if isinstance(byte_budget, int | float) and byte_budget < needed:
        raise Refused(
            f"a map that follows: {byte_budget} bytes a barrier take no swap of {largest.name}, which"
            f" copies {needed}",
            hint=f"give bytes={needed} at least, or freeze the map",
        )
    if isinstance(second_budget, int | float) and second_budget <= 0:
        raise Refused(
            f"a map that follows: {second_budget} seconds a barrier take no swap",
            hint="give seconds above 0, or freeze the map",
        )


def rows_per_swap(two_bank: TwoBank) -> int:
    """Count the rows that a swap copies: 1 where the cold bank has every expert, else 2."""
    mirrors = (bank.mirrors or not bank.cold for bank in two_bank.swapper.banks)
    return 1 if all(mirrors) else 2
