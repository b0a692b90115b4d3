# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Copies of ranges of memory, by address: what is asked for together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Addresses = NDArray[np.int64]


class NotApart(ValueError):  # noqa: N818 - it is what the ranges are
    """A range that is written to meets another one; which bytes would be there is left to chance."""


@dataclass(frozen=True)
class Copies:
    """N of them, in no order: each may be made before, or beside, any other.

    Attributes:
        to: int64[N], where the bytes go.
        source: int64[N], where they are.
        sizes: int64[N], how many.
    """

    to: Addresses
    source: Addresses
    sizes: Addresses

    def __post_init__(self) -> None:
        if not len(self.to) == len(self.source) == len(self.sizes):
            raise ValueError(
                f"{len(self.to)} destinations, {len(self.source)} sources, {len(self.sizes)} sizes"
            )
        for what, each in (("destination", self.to), ("source", self.source)):
            if len(each) and each[self.sizes > 0].min(initial=1) < 1:
                raise ValueError(f"a {what} is no address: {each.min()}")
        if len(self.sizes) and self.sizes.min() < 0:
            raise ValueError(f"{self.sizes.min()} bytes are to be copied")

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def bytes(self) -> int:
        """All that is copied."""
        return int(self.sizes.sum())

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Put several together."""
        if not parts:
            nothing = np.zeros(0, np.int64)
            return cls(nothing, nothing, nothing)
        return cls(
            np.concatenate([each.to for each in parts]),
            np.concatenate([each.source for each in parts]),
            np.concatenate([each.sizes for each in parts]),
        )

    def some(self, which: NDArray[np.bool_]) -> Self:
        """Take those of a mask, bool[N]."""
        return type(self)(self.to[which], self.source[which], self.sizes[which])

    def require_apart(self) -> None:
        """Refuse a destination that meets another destination, or any source.

        Raises:
            NotApart: One does; both are named.
        """
        held = self.some(self.sizes > 0)
        order = np.argsort(held.to, kind="stable")
        first, last = held.to[order], held.to[order] + held.sizes[order]
        if len(met := np.flatnonzero(last[:-1] > first[1:])):
            one, other = order[met[0]], order[met[0] + 1]
            raise NotApart(
                f"copies of {_range(held.to[one], held.sizes[one])} and"
                f" {_range(held.to[other], held.sizes[other])} are written over one another"
            )
        # Apart from each other they are sorted by their ends, too.
        begun = np.searchsorted(last, held.source, side="right")
        met = np.flatnonzero(begun < np.searchsorted(first, held.source + held.sizes, side="left"))
        if len(met):
            one, other = met[0], order[begun[met[0]]]
            raise NotApart(
                f"{_range(held.source[one], held.sizes[one])} is copied while"
                f" {_range(held.to[other], held.sizes[other])} is written"
            )


def _range(first: int, size: int) -> str:
    return f"{size} bytes at {first:#x}"
