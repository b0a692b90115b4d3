# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Swaps by what was picked since the last barrier: the barrier's source while the map follows."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from expert_bank.policy import Policy
from expert_bank.refused import Refused
from expert_bank.swaps import Swap

if TYPE_CHECKING:
    from expert_bank.counter import PickCounter
    from expert_bank.eams.running import RunningEams


@dataclass(frozen=True)
class Followed:
    """What was done while the map followed traffic, since start: no sum ever goes down.

    Attributes:
        decisions: How often a policy was asked.
        seconds: Spent reading counts and deciding, on a device that had nothing else to do.
        drain_seconds: Spent waiting before that until the device had done what was enqueued.
        fallbacks: As ``Guard.fallbacks``.
        returns: As ``Guard.returns``.
        served_cold: As ``Policy.served_cold``.
        oracle_cold: As ``Policy.oracle_cold``.
    """

    decisions: int = 0
    seconds: float = 0.0
    drain_seconds: float = 0.0
    fallbacks: int = 0
    returns: int = 0
    served_cold: int = 0
    oracle_cold: int = 0

    def __add__(self, other: "Followed") -> "Followed":
        """Sum both."""
        more = asdict(other)
        return Followed(**{name: value + more[name] for name, value in asdict(self).items()})


class Following:
    """Asks a policy every N forwards.

    Attributes:
        policy: Decides.
        counter: Whose counts it goes by.
        budget: Tells the bytes of one barrier.
        drain: Waits until the device has done all that is enqueued.
        earlier: What was done before this policy.
        seconds: Spent reading counts and deciding by this policy, the device drained.
        drain_seconds: Spent draining it before.
        decisions: How often the policy was asked.
        ended: Why the map is followed no more; empty while it is.
        eams: Tell what the requests that run will pick; None to go by what was picked.
    """

    def __init__(
        self,
        policy: Policy,
        counter: "PickCounter",
        budget: Callable[[], int],
        *,
        drain: Callable[[], None],
        earlier: Followed,
        eams: "RunningEams | None" = None,
    ) -> None:
        self.policy = policy
        self.counter = counter
        self.budget = budget
        self.drain = drain
        self.earlier = earlier
        self.seconds = 0.0
        self.drain_seconds = 0.0
        self.decisions = 0
        self.ended = ""
        self.eams = eams
        self._read = counter.snapshot()

    def at(
        self, forward: int, hot: Sequence[NDArray[np.bool_]], *, rows: Sequence[int] | None = None
    ) -> list[Swap]:
        """List the swaps to make before a forward; see ``barrier.Source``.

        Raises:
            Refused: The counts are not exact; told once, and nothing is swapped from then on.
        """
        del rows
        if forward % self.policy.pace.every or self.ended:
            return []
        # The counts wait for the device anyway; what the forwards took is no time of ours.
        before = time.perf_counter()
        self.drain()
        start = time.perf_counter()
        self.drain_seconds += start - before
        wanted = None if self.eams is None else self.eams.wanted()
        swaps = self.policy.step(self._picked(), hot, self.budget(), wanted)
        self.seconds += time.perf_counter() - start
        self.decisions += 1
        return swaps

    def see(self, hot: Sequence[NDArray[np.bool_]]) -> None:
        """Take in what was picked so far, before somebody else changes the map."""
        with suppress(Refused):
            if not self.ended:
                self.policy.see(self._picked(), hot)

    def skip(self) -> None:
        """Leave out what was picked so far: the map did not stand still."""
        with suppress(Refused):
            if not self.ended:
                self._picked()

    def _picked(self) -> NDArray[np.int64]:
        """Count what was picked since the last call, int64[L, E]."""
        try:
            counts = self.counter.snapshot()
        except Refused as error:
            self.ended = error.message
            raise
        picked, self._read = counts - self._read, counts
        return picked

    @property
    def done(self) -> Followed:
        """What was done since start, by this policy and those before."""
        policy, guard = self.policy, self.policy.guard
        own = Followed(
            decisions=self.decisions,
            seconds=self.seconds,
            drain_seconds=self.drain_seconds,
            fallbacks=guard.fallbacks,
            returns=guard.returns,
            served_cold=policy.served_cold,
            oracle_cold=policy.oracle_cold,
        )
        return self.earlier + own

    def told(self) -> dict[str, Any]:
        """Tell how it stands, as values that JSON can carry."""
        return {
            **self.policy.told(),
            "seconds": self.seconds,
            "drain_seconds": self.drain_seconds,
            "every": self.policy.pace.every,
            "pace": asdict(self.policy.pace),
            "decisions": self.decisions,
            "ended": self.ended,
            "eams": None if self.eams is None else self.eams.told(),
        }
