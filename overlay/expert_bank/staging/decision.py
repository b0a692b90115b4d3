# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whether a step is staged: what stands against it, counted by cause."""

from collections.abc import Callable
from typing import Any

from expert_bank.staging.cold_share import ColdShare
from expert_bank.staging.threshold import NEVER, Cold

# Why a step reads its cold rows in place, in the order in which they are asked for.
DECODE, SWITCHED_OFF, CAPTURED, BELOW, FAILED, UNFILLED = REFUSALS = (
    "decode",
    "switched_off",
    "captured",
    "below_threshold",
    "failed",
    "unfilled",
)


class Decision:
    """Takes a step, or counts why not.

    Attributes:
        wanted: Whether steps may be staged; state of the run.
        least: Tokens from which on a step is staged; None for what the bytes say. The same.
        refused: Steps that were not staged, by why.
    """

    def __init__(self, cold: Cold, share: ColdShare) -> None:
        self.wanted = True
        self.least: int | None = None
        self.refused = dict.fromkeys(REFUSALS, 0)
        self._cold, self._share = cold, share
        self._known = -1.0, NEVER

    def threshold(self) -> int:
        """Give the tokens from which on a step is staged; ``NEVER`` where none is."""
        if self.least is not None:
            return self.least
        share = self._share.now()
        if share != self._known[0]:
            self._known = share, self._cold.least(share)
        return self._known[1]

    def takes(
        self, tokens: int, *, prefill: bool, captured: bool, against: Callable[[], str]
    ) -> bool:
        """Tell whether a step is staged.

        Args:
            tokens: Scheduled in it.
            prefill: Whether it computes a prompt, by the scheduler's word.
            captured: Whether a graph is replayed for it.
            against: Tells what else stands against it, one of ``REFUSALS``, or nothing; asked last.
        """
        why = self._why_not(tokens, prefill=prefill, captured=captured) or against()
        if why:
            self.refused[why] += 1
        return not why

    def told(self) -> dict[str, Any]:
        """Tell how it stands, as values that JSON can carry."""
        least = self.threshold()
        return {
            "refused": dict(self.refused),
            "wanted": self.wanted,
            "forced": self.least is not None,
            "least_tokens": None if least == NEVER else least,
            "cold_share": self._share.value,
            "block": self._cold.block,
        }

    def _why_not(self, tokens: int, *, prefill: bool, captured: bool) -> str:
        if not prefill:
            return DECODE
        if not self.wanted:
            return SWITCHED_OFF
        if captured:
            return CAPTURED
        return BELOW if tokens < self.threshold() else ""
