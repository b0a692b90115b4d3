# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What one barrier may copy, and how long it may take."""

from typing import TypeAlias

from expert_bank.refused import Refused, shortened

# Bytes and seconds of one barrier; None for no bound.
Limits: TypeAlias = tuple[int | None, float | None]
UNBOUNDED = 2**63


def require_budgets(*budgets: object) -> None:
    """Refuse budgets of a barrier that are none; None is for no limit.

    Raises:
        Refused: One is below zero, or no number.
    """
    for each in budgets:
        if each is not None and (type(each) not in (int, float) or not each >= 0):  # type: ignore[operator]
            raise Refused(
                f"a barrier's budget is {shortened(each)}, and must be a number from 0 on"
            )
