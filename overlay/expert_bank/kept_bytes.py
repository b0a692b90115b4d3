# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Bytes of a device that are kept in host memory while their place is not there."""

from collections.abc import Callable, Iterable, Iterator

from expert_bank.pages import HostPages
from expert_bank.ranges import Range
from expert_bank.refused import Refused
from expert_bank.registration import Registration

# Copies bytes: to an address, from an address, how many; raises where it did not.
Move = Callable[[int, int, int], None]


class KeptBytes:
    """Ranges of addresses, copied away until they are put back.

    Host memory of exactly their size, one behind the other; made known to the device, for a copy
    from anywhere else may still be under way when its call returns.

    Attributes:
        ranges: By address.
        size: Bytes.
    """

    def __init__(
        self,
        ranges: Iterable[Range],
        *,
        memory: Callable[[int], HostPages],
        pin: Callable[[HostPages], Registration],
        move: Move,
    ) -> None:
        """Copy them away.

        Args:
            ranges: What is to be kept.
            memory: Maps so many bytes of host memory.
            pin: Makes them known to the device.
            move: Copies.

        Raises:
            Refused: There is no such memory, or the device does not take it.
            Exception: Whatever a copy raises; nothing is kept then.
        """
        self.ranges = tuple(ranges)
        self.size = sum(each.length for each in self.ranges)
        self._move = move
        self._pages: HostPages | None = None
        self._pinned: Registration | None = None
        if not self.size:
            return
        self._pages = memory(self.size)
        try:
            self._pinned = pin(self._pages)
            for at, each in self._placed(self._pages.address):
                move(at, each.start, each.length)
        except BaseException as error:
            try:
                self.close()
            except (Refused, BufferError) as left:
                error.add_note(str(left))
            raise

    def put_back(self) -> None:
        """Copy all of them to where they were; again does the same.

        Raises:
            Exception: Whatever a copy raises; they are still kept.
        """
        if self._pages is not None:
            for at, each in self._placed(self._pages.address):
                self._move(each.start, at, each.length)

    def close(self) -> None:
        """Give the host memory back; again does nothing.

        Raises:
            Refused: The device still has it.
        """
        if self._pinned is not None:
            self._pinned.close()
        if self._pages is not None:
            self._pages.close()
        self._pinned = self._pages = None

    def _placed(self, at: int) -> Iterator[tuple[int, Range]]:
        for each in self.ranges:
            yield at, each
            at += each.length
