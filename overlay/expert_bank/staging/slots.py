# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Which slots of the staging buffer a layer's rows go to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """Slots one behind the other.

    Attributes:
        layer: Whose rows go there.
        first: The first slot.
        count: How many.
        rows: Which of the layer's cold rows, from which on.
    """

    layer: int
    first: int
    count: int
    rows: int

    def meets(self, other: "Run") -> bool:
        """Tell whether they have a slot in common."""
        return self.first < other.first + other.count and other.first < self.first + self.count


class Slots:
    """Gives each layer its slots: from the buffer's first on, and up to its last, in turn.

    So a layer and the next one meet in as few as can be, and in none where both fit. A layer's slots are
    always the same and lie together, so that a kernel may take them for a tensor. They are filled in
    parts, for some may be free while a layer that is read has the others.

    Attributes:
        layers: Those that have slots, in load order.
    """

    def __init__(self, sizes: Sequence[int], rows: int, part: int) -> None:
        """Lay them out.

        Args:
            sizes: C' of each layer; 0 for one that has no cold rows.
            rows: S.
            part: Rows that are copied together at most.

        Raises:
            ValueError: A layer has more than there are, or a part has none.
        """
        if part < 1 or max(sizes, default=0) > rows:
            raise ValueError(f"{rows} slots in parts of {part} are not for layers of {list(sizes)}")
        self._whole: dict[int, Run] = {}
        self._part = part
        held = [(layer, size) for layer, size in enumerate(sizes) if size]
        for number, (layer, size) in enumerate(held):
            self._whole[layer] = Run(layer, (rows - size) * (number % 2), size, 0)
        self.layers = tuple(self._whole)

    def whole(self, layer: int) -> Run:
        """Give all slots of a layer."""
        return self._whole[layer]

    def parts(self, layer: int, rows: int) -> Iterator[Run]:
        """Yield the parts of a layer's slots that its rows take.

        Args:
            layer: One of ``layers``.
            rows: How many cold rows it has now, at most C'.
        """
        whole = self._whole[layer]
        for start in range(0, rows, self._part):
            yield Run(layer, whole.first + start, min(self._part, rows - start), start)

    def after(self, layer: int) -> int | None:
        """Give the next layer that has slots; None behind the last one."""
        behind = self.layers.index(layer) + 1
        return self.layers[behind] if behind < len(self.layers) else None
