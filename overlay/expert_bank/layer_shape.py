# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What the planner has to know of an MoE layer."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LayerShape:
    """Experts, picks and bytes of one.

    Attributes:
        experts: E.
        picks: k, how many experts a token gets.
        row_bytes: Bytes of one expert's row in each row tensor after the repack, by its name.
        raw_bytes: Bytes of all experts before the repack.
        repacked_bytes: Bytes of all experts after it.
    """

    experts: int
    picks: int
    row_bytes: Mapping[str, int]
    raw_bytes: int
    repacked_bytes: int

    def __post_init__(self) -> None:
        if not 0 < self.picks <= self.experts or min(self.row_bytes.values(), default=0) < 1:
            raise ValueError(f"{self}: not k of E experts, each with rows")
        if self.raw_bytes < 1 or self.repacked_bytes < self.experts * self.row:
            raise ValueError(f"{self}: fewer bytes than its rows have")

    @property
    def row(self) -> int:
        """Bytes of one expert, all row tensors together."""
        return sum(self.row_bytes.values())
