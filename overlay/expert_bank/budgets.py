# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What one barrier may copy and how long it may take, and whether a map can follow with that."""

from collections.abc import Container
from typing import TypeVar

from expert_bank.limits import Limits, require_budgets
from expert_bank.pace import Pace
from expert_bank.refused import Refused
from expert_bank.swap_bytes import END, require_swap
from expert_bank.two_bank import TwoBank

T = TypeVar("T", int, float)


def limit(two_bank: TwoBank, byte_budget: int | None, second_budget: float | None) -> None:
    """Limit one barrier; None for no limit.

    Raises:
        Refused: One is below zero, or no number; or the map follows, and a budget takes no swap.
            Nothing was changed.
    """
    require_budgets(byte_budget, second_budget)
    if two_bank.following is not None:
        require_room(two_bank, byte_budget, second_budget)
    two_bank.barrier.limit(byte_budget, second_budget)


def paced(
    limits: Limits, before: Pace, pace: Pace | None, *, named: Container[str] | None
) -> Limits:
    """Tell the budgets of one barrier once the map follows at a pace; each is treated apart.

    Args:
        limits: The budgets now, of bytes and seconds; None for no bound.
        before: The pace so far.
        pace: The one from here on; None where the map is to follow no more.
        named: Settings that are changed, where single ones are: no other budget is touched.
            Else a pace's own budgets end with it, and those that somebody gave since stay.
    """
    (bytes_, seconds), after = limits, pace or Pace()
    if named is not None:
        return (
            after.bytes if "bytes" in named else bytes_,
            after.seconds if "seconds" in named else seconds,
        )
    return _next(bytes_, before.bytes, after.bytes), _next(seconds, before.seconds, after.seconds)


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
            hint=f"give seconds above 0, or {END}",
        )


def _next(now: T | None, before: T | None, after: T | None) -> T | None:
    return now if after is None and now != before else after
