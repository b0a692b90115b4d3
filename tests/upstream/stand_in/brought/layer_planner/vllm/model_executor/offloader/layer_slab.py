# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A ring of equal places that layers take turns in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Slab:
    """So many places."""

    places: int

    def place(self, layer: int) -> int:
        """The place of a layer; two layers share one only when a whole ring lies between them."""
        return layer % self.places
