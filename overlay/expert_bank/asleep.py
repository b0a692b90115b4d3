# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""One sleep of two banks: what is kept before vLLM lets device memory go, and put back after."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

from expert_bank.barrier import SLEEP, Moved
from expert_bank.host_budget import HostBudget
from expert_bank.kept_bytes import KeptBytes
from expert_bank.pages import HostPages
from expert_bank.ranges import Range, without
from expert_bank.refused import Refused
from expert_bank.registration import Registration
from expert_bank.sizes import told
from expert_bank.sleep_room import pinned_bytes, require_room
from expert_bank.sleep_rows import (
    against_sleep,
    against_waking,
    mirrored_ranges,
    refill,
    staged_ranges,
)
from expert_bank.two_bank import TwoBank

WEIGHTS = "weights"
SHOWN = 8
WAKE = "wake_up lets it answer again"


class NotRestored(RuntimeError):  # noqa: N818 - it is what became of a bank
    """What was asleep is not as it was; nothing can be served rightly."""


@dataclass(frozen=True)
class Allocation:
    """Device memory that may be let go and be had again at the same address.

    Attributes:
        place: Its addresses.
        tag: What it is for.
        asleep: Whether it is let go.
    """

    place: Range
    tag: str
    asleep: bool


class Pool(Protocol):
    """What vLLM allocates in where it may sleep."""

    def allocations(self) -> list[Allocation]:
        """List all of it, as it is now."""

    def backed_up(self, tag: str) -> bool:
        """Tell whether vLLM backs a tag's bytes up itself, at every level."""

    def move(self, to: int, source: int, length: int) -> None:
        """Copy bytes between addresses of the device and of the host; raises where it did not."""


class Asleep:
    """Two banks from before anything is discarded until all of it was seen to be as it was.

    Of the pool's weights everything is kept but a staging buffer, which each step fills anew, and hot
    rows that a mirror has, and those are refilled: so they may be discarded whole, and nothing of them is
    loaded anew. Exclusive banks have no other copy of a hot row: vLLM backs all weights up then. The
    barrier is closed meanwhile.

    Attributes:
        kept: What is none of the mirror's.
        line: What becomes of the weights, for people.
    """

    def __init__(
        self,
        two_bank: TwoBank,
        pool: Pool,
        *,
        budget: Callable[[], HostBudget],
        memory: Callable[[int], HostPages],
        pin: Callable[[HostPages], Registration],
        reusable: int = 0,
    ) -> None:
        """Keep what would be lost.

        Args:
            two_bank: Awake.
            pool: Where its hot rows and tables are, and whatever else vLLM loaded.
            budget: Measures what host memory has left.
            memory: Maps host memory.
            pin: Makes it known to the device.
            reusable: Bytes of host memory that vLLM has from an earlier backup.

        Raises:
            Refused: There is no room; or something is wrong already, and would be lost. All is as
                it was then, as where a copy raises.
        """
        self._two_bank = two_bank
        self._pool = pool
        self._shut = ExitStack()
        self._shut.enter_context(two_bank.barrier.shut(SLEEP))
        try:
            two_bank.barrier.drain()
            _require_sound(against_sleep(two_bank))
            allocations = [each for each in pool.allocations() if not each.asleep]
            self._weights = [each.place for each in allocations if each.tag == WEIGHTS]
            backed = [each.place.length for each in allocations if pool.backed_up(each.tag)]
            ranges, rows, buffer = list[Range](), 0, 0
            if backs_up_rows(two_bank):
                backed += [each.length for each in self._weights]
            else:
                others = without(self._weights, mirrored_ranges(two_bank))
                ranges = without(others, staged_ranges(two_bank))
                rows = _length(self._weights) - _length(others)
                buffer = _length(others) - _length(ranges)
            kept = _length(ranges)
            self.line = (
                f"vLLM backs up {told(_length(self._weights))} of weights"
                if backs_up_rows(two_bank)
                else _line(kept, rows, buffer)
            )
            require_room(
                kept, max(0, pinned_bytes(backed) - reusable), budget(), hint=_hint(two_bank)
            )
            self.kept = KeptBytes(ranges, memory=memory, pin=pin, move=pool.move)
        except BaseException:
            self._shut.close()
            raise

    def mapped(self) -> bool:
        """Tell whether all weights have their memory again."""
        now = {each.place: each.asleep for each in self._pool.allocations()}
        return not any(now.get(each, False) for each in self._weights)

    def end(self) -> int:
        """Put all back, see that it is as it was, and open the barrier; again, if it failed, the same.

        Returns:
            How many hot rows came from the mirror.

        Raises:
            Moved: The pool, a bank or a table is elsewhere.
            NotRestored: A row or an entry of the table is not as it was, named by layer and expert.
            Exception: Whatever a copy raises.
        """
        two_bank = self._two_bank
        gone = {*self._weights} - {each.place for each in self._pool.allocations()}
        if gone:
            first = min(gone)
            raise Moved(
                f"{first.length} bytes of weights at {first.start:#x} are none of vLLM's any more"
            )
        two_bank.barrier.require_addresses()
        self.kept.put_back()
        rows = refill(two_bank)
        two_bank.barrier.drain()
        if wrong := [*against_waking(two_bank)]:
            raise NotRestored(
                f"awake, and not as before: {_some(wrong)}\nnothing is served from here on; start the"
                " engine again"
            )
        self._shut.close()
        return rows


def backs_up_rows(two_bank: TwoBank) -> bool:
    """Tell whether vLLM must keep the weights itself, for no mirror has the hot rows."""
    return any(bank.cold_rows == "exclusive" for bank in two_bank.swapper.banks)


def _length(ranges: Iterable[Range]) -> int:
    return sum(each.length for each in ranges)


def _line(kept: int, rows: int, buffer: int) -> str:
    staged = f", {told(buffer)} of staging buffer let go" if buffer else ""
    return f"{told(kept)} of weights kept in host memory, {told(rows)} of hot rows left to the mirror{staged}"


def _require_sound(found: Iterable[str]) -> None:
    if wrong := [*found]:
        raise Refused(
            f"sleep: {_some(wrong)}; a hot row that is discarded comes back from there, so nothing"
            " was discarded",
            hint=f"{WAKE}; expert_bank_banks has the audit of every row",
        )


def _some(lines: Sequence[str]) -> str:
    more = f"; and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
    return "; ".join(lines[:SHOWN]) + more


def _hint(two_bank: TwoBank) -> str:
    mode = ", or start with moe_cold_rows mirror" if backs_up_rows(two_bank) else ""
    return f"{WAKE}; free host memory{mode}"
