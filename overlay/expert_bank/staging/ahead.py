# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Brings layers' cold rows into their slots, those of the next one while a layer is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from expert_bank.refused import worded
from expert_bank.staging.layer_stage import LayerStage
from expert_bank.staging.side_thread import Pending, Side
from expert_bank.staging.slots import Run, Slots

# Of a layer's rows, so that some come while others' slots are read; each costs the host what a launch does.
PARTS = 4
PART_BYTES = 512 * 2**20


@dataclass(frozen=True)
class Arrived:
    """A layer's rows that are in their slots.

    Attributes:
        rows: How many.
        bytes: The same in bytes, as those who copied them said.
        late: Rows of them that were not begun a layer ahead, for their slots were still read.
    """

    rows: int
    bytes: int
    late: int


class Ahead:
    """Knows which parts of which layers were begun, and whose slots are read.

    Layers may come in any order: a part that others' rows were copied over since is copied again.
    """

    def __init__(self, layers: Mapping[int, LayerStage], slots: Slots, side: Side) -> None:
        self._layers, self._slots, self._side = layers, slots, side
        self._begun: dict[int, dict[int, tuple[Run, Pending]]] = {}

    def first(self) -> None:
        """Begin the first layer's rows; no slot is read."""
        self._begin_free(self._slots.layers[0], [])

    def arrive(self, layer: int) -> Arrived:
        """Have all of a layer's rows there for what is enqueued from here on.

        Raises:
            Exception: Whatever a copy raised.
        """
        stage = self._layers[layer]
        begun = self._begun.get(layer, {})
        late = [part for part in self._parts(layer) if part.first not in begun]
        for part in late:
            self._begin(part)
        moved = sum(pending.wait() for _, pending in self._begun[layer].values())
        # Where one failed the others stay, to be waited for at the step's end.
        del self._begun[layer]
        return Arrived(len(stage.rows), moved, sum(part.count for part in late))

    def follow(self, layer: int) -> None:
        """Begin what can be of the next layer's rows, while this one is read."""
        if (following := self._slots.after(layer)) is not None:
            self._begin_free(following, self._parts(layer))

    def drain(self) -> list[str]:
        """Wait for what nobody read, as a forward may have ended early; what failed, in words."""
        failures = []
        for parts in self._begun.values():
            for _, pending in parts.values():
                try:
                    pending.wait()
                except Exception as error:  # noqa: BLE001 - a copy, or a device, raises what it likes
                    failures.append(worded(error))
        self._begun.clear()
        return failures

    def _parts(self, layer: int) -> list[Run]:
        return [*self._slots.parts(layer, len(self._layers[layer].rows))]

    def _begin_free(self, layer: int, read: Sequence[Run]) -> None:
        for part in self._parts(layer):
            begun = part.first in self._begun.get(layer, {})
            if not begun and not any(part.meets(each) for each in read):
                self._begin(part)

    def _begin(self, part: Run) -> None:
        """Begin a part; what others had in its slots is gone then."""
        for parts in self._begun.values():
            for first, (other, _) in [*parts.items()]:
                if part.meets(other):
                    del parts[first]
        pending = self._side.begin(self._layers[part.layer].copies(part))
        self._begun.setdefault(part.layer, {})[part.first] = part, pending


def part_rows(layers: Sequence[int], row_bytes: int) -> int:
    """Choose how many rows are copied together.

    Args:
        layers: Cold experts of each.
        row_bytes: Of one row.
    """
    return max(1, min(-(-max(layers) // PARTS), PART_BYTES // row_bytes))
