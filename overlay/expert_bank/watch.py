# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Looks at a map every so many forwards, and tells: lines for the log, and the stats file.

It goes by what the barrier has just read; between two looks it costs a division.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from expert_bank.pace import BEYOND, Pace
from expert_bank.recovery_line import recovery_line
from expert_bank.refused import Refused, worded
from expert_bank.stats import late_shares, look_every, snapshot, state
from expert_bank.stats_file import remove_stats, write_stats
from expert_bank.stats_folder import other_writer, remove_old
from expert_bank.step_time import StepTime
from expert_bank.watch_lines import begins, goes_on, turned

if TYPE_CHECKING:
    from expert_bank.two_bank import TwoBank

# Looks from one line of the log to the next.
LINE_EVERY = 50
# Seconds from one stats file to the next, at least.
WRITE_EVERY = 1.0


class Watch:
    """Tells of one worker's banks. Whatever goes wrong with that is told once, and stops nothing."""

    def __init__(
        self,
        two_bank: "TwoBank",
        model: str,
        *,
        served_as: str = "",
        engine: int = 0,
        file: Path | None,
        tell: Callable[[str], None],
        warn: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin, and tell how the map stands.

        Args:
            two_bank: To be looked at.
            model: What is served.
            served_as: By which name; empty for the model's own.
            engine: Which of the server's engines this is.
            file: Where the stats go; None for nowhere.
            tell: Takes a line of the log.
            warn: The same, of something wrong.
            clock: Seconds.
        """
        self._two_bank, self._file = two_bank, file
        self._snapshot = partial(snapshot, two_bank, model, served_as=served_as, engine=engine)
        self._tell, self._warn, self._clock = tell, warn, clock
        self._state = state(two_bank)
        self._looks = 0
        self._failing = False
        self._step = StepTime()
        self._outlook: Pace | None = None
        self._written = float("-inf")
        self._line = self._now()
        tell(begins(two_bank, self._state, file))
        if file is not None:
            self._guarded(lambda: self._share(file))
        self._guarded(self._write)

    def forward(self) -> None:
        """Stand before a forward, behind its barrier."""
        two_bank = self._two_bank
        if two_bank.barrier.totals.forwards % look_every(two_bank) == 0:
            self._guarded(self._look)

    def read(self) -> dict[str, Any]:
        """Read the stats now, and replace the file with them where there is one.

        Raises:
            Refused: The counts are not exact.
        """
        stats = self._snapshot()
        if self._file is not None:
            self._guarded(lambda: self._put(stats))
        return stats

    def _share(self, file: Path) -> None:
        """Stand beside what other servers left where this one writes, and those that are there."""
        remove_old(file)
        if (other := other_writer(file)) is not None:
            self._warn(
                f"{file} is written by another worker, too (process {other}): /metrics of both has"
                " gaps; name a folder in EXPERT_BANK_STATS, where each server has a file of its own"
            )

    def _look(self) -> None:
        two_bank = self._two_bank
        if (now := state(two_bank)) != self._state:
            self._state = now
            self._tell(turned(two_bank, now))
        self._looks += 1
        if two_bank.following is not None and self._looks % LINE_EVERY == 0:
            before, self._line = self._line, self._now()
            shares = late_shares(two_bank.following.policy)
            self._tell(goes_on(self._state, shares, before, self._line))
        self._look_ahead()
        if self._clock() - self._written >= WRITE_EVERY:
            self._write()

    def _look_ahead(self) -> None:
        """Tell in seconds what a switch of traffic costs, when steps are known.

        Once for each pace and bytes of a barrier.
        """
        two_bank, totals = self._two_bank, self._two_bank.barrier.totals
        self._step.look(totals.forwards, two_bank.counter.tokens, self._clock())
        following, plan, late = two_bank.following, two_bank.plan, self._step.late
        if following is None or plan is None or late is None:
            return
        pace = _held(following.policy.pace, two_bank.barrier.limits[0])
        if pace != self._outlook:
            self._outlook = pace
            # Drained, copied and verified, which is more than the link alone would take.
            link = totals.bytes / totals.seconds / 1e9 if totals.bytes else None
            each = max(1, round(late.tokens))
            self._tell(
                recovery_line(plan, pace, tokens_per_forward=each, step=late.seconds, link=link)
            )

    def _write(self) -> None:
        if self._file is not None:
            self._put(self._snapshot())

    def _put(self, stats: dict[str, Any]) -> None:
        # Before it fails, too: a full disk is not asked again at every look.
        self._written = self._clock()
        if self._file is not None:
            write_stats(self._file, stats)
        self._failing = False

    def _guarded(self, act: Callable[[], None]) -> None:
        """Act; what only tells must not end what serves."""
        try:
            act()
        except Exception as error:  # noqa: BLE001 - whatever it is, the next forward is due
            if isinstance(error, Refused) and self._file is not None:
                # There are no counts any more, and old ones look like new ones.
                remove_stats(self._file)
            if not self._failing:
                self._failing = True
                self._warn(f"how the map does cannot be told: {worded(error)}")

    def _now(self) -> dict[str, float]:
        two_bank = self._two_bank
        deciding = two_bank.followed.seconds
        return {**asdict(two_bank.barrier.totals), "deciding": deciding, "time": self._clock()}


def _held(pace: Pace, byte_budget: float | None) -> Pace:
    """Give the pace with the bytes that hold at a barrier, whoever gave them."""
    if byte_budget is None or byte_budget >= BEYOND:
        return replace(pace, bytes=None)
    # A pace has no 0, and a byte takes no swap either.
    return replace(pace, bytes=max(1, int(byte_budget)))
