"""Where the lines that a hunk changes lie in another state of its file."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from lanewright.queue.cause.spans import Span


@dataclass(frozen=True)
class Zone:
    """The same lines on both sides, 0-based, up to but without the second number.

    Attributes:
        base: Of the file that the hunk was made on; with all lines that the other side changed
            there or right beside it.
        ours: Of the other side.
    """

    base: tuple[int, int]
    ours: tuple[int, int]


@dataclass(frozen=True)
class Alignment:
    """From the lines of one state of a file to those of another.

    Attributes:
        spans: What differs, in order.
    """

    spans: Sequence[Span]

    @cached_property
    def _ends(self) -> list[int]:
        return [span.old + span.removed for span in self.spans]

    @cached_property
    def _shifts(self) -> list[int]:
        return [0, *accumulate(span.added - span.removed for span in self.spans)]

    def zone(self, first: int, last: int) -> Zone:
        """Where the lines from ``first`` up to ``last`` lie.

        As in a merge, a change that only touches them belongs to them.
        """
        low, high = first, last
        at = to = bisect_left(self._ends, low)
        while to < len(self.spans) and self.spans[to].old <= high:
            low, high = min(low, self.spans[to].old), max(high, self._ends[to])
            to += 1
        ours = (low + self._shifts[at], high + self._shifts[to])
        return Zone((low, high), ours)
