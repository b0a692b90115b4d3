# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How long a forward takes and how many tokens it has, by what was seen of late."""

from collections import deque
from dataclasses import dataclass
from statistics import median

# Looks that are kept, and how many there must be before anything is said.
KEPT, FEWEST = 31, 15


@dataclass(frozen=True)
class Step:
    """A forward of late.

    Attributes:
        seconds: From its beginning to that of the next.
        tokens: Scheduled.
    """

    seconds: float
    tokens: float


class StepTime:
    """Takes the median over looks: those that span a time without requests stand out and do not count.

    Where most do, it tells the pace at which requests come, which is what a recovery waits for.
    """

    def __init__(self) -> None:
        self._before: tuple[int, int, float] | None = None
        self._kept: deque[Step] = deque(maxlen=KEPT)

    def look(self, forwards: int, tokens: int, now: float) -> None:
        """Take in where things stand.

        Args:
            forwards: Since start.
            tokens: Scheduled in them.
            now: Seconds.
        """
        before, self._before = self._before, (forwards, tokens, now)
        if before is not None and forwards > before[0]:
            more = forwards - before[0]
            self._kept.append(Step((now - before[2]) / more, (tokens - before[1]) / more))

    @property
    def late(self) -> Step | None:
        """A forward of late; None while too few were seen."""
        if len(self._kept) < FEWEST:
            return None
        return Step(
            median(each.seconds for each in self._kept), median(each.tokens for each in self._kept)
        )
