# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What one barrier may copy and how long it may take, and whether a map can follow with that."""

from expert_bank.refused import Refused
from expert_bank.swap_bytes import require_swap
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
    moving = [bank for bank in two_bank.swapper.banks if 0 < bank.hot < bank.experts]
    if not moving:
        return
    if isinstance(byte_budget, int | float):
        rows = {bank.name: bank.row_bytes for bank in moving}
        require_swap(byte_budget, rows, moving[0].cold_rows)
    if isinstance(second_budget, int | float) and second_budget <= 0:
        raise Refused(
            f"moe_follow: {second_budget} seconds a barrier take no swap",
            hint="give seconds above 0, or freeze the map",
        )
