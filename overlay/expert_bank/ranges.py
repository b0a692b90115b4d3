# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Ranges of addresses, and what is left of them without others."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Range:
    """Addresses from ``start`` on, up to ``end`` and without it."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """Bytes."""
        return self.end - self.start


def without(whole: Iterable[Range], holes: Iterable[Range]) -> list[Range]:
    """Cut holes out of ranges.

    Args:
        whole: Apart from each other; two that touch stay two.
        holes: In any order; they may overlap, be empty, or lie anywhere.

    Returns:
        What is left, by address, without empty ranges.
    """
    cut = sorted(each for each in holes if each.length > 0)
    left = []
    for each in sorted(whole):
        start = each.start
        for hole in cut:
            if hole.end <= start:
                continue
            if hole.start >= each.end:
                break
            if hole.start > start:
                left.append(Range(start, hole.start))
            start = hole.end
        if start < each.end:
            left.append(Range(start, each.end))
    return left
