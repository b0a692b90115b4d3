# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What may be asked of staging while the engine runs; it enters no hash, and ends with the process."""

from typing import Any

from expert_bank.refused import Refused, shortened
from expert_bank.staging.room import FIELD
from expert_bank.staging.threshold import MOST_TOKENS
from expert_bank.two_bank import TwoBank

# The threshold is what the bytes say.
BYTES = "bytes"


def steer(two_bank: TwoBank, wanted: object, least: object) -> dict[str, Any]:
    """Switch staging, or say from how many tokens on a step that computes a prompt is staged.

    Args:
        two_bank: Whose.
        wanted: Whether steps may be staged; None to leave that as it is.
        least: Tokens; ``bytes`` for what the bytes say; None to leave it as it is.

    Returns:
        How it stands.

    Raises:
        Refused: There is no buffer, or these are no such settings; nothing was changed.
    """
    staging = two_bank.staging
    if staging is None:
        why = two_bank.unstaged or f"{FIELD} is not set"
        raise Refused(f"nothing is staged: {why}", hint=f"start with {FIELD}")
    if wanted is not None and not isinstance(wanted, bool):
        raise Refused(f"wanted is {shortened(wanted)}, and must be true or false")
    number = type(least) is int and 1 <= least <= MOST_TOKENS
    if least is not None and least != BYTES and not number:
        raise Refused(
            f"least is {shortened(least)}, and must be a number of tokens from 1 on, or {BYTES!r}"
        )
    if wanted is not None:
        staging.decision.wanted = wanted
    if least is not None:
        staging.decision.least = least if isinstance(least, int) else None
    return staging.told()
