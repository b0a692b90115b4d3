# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How many cold rows the staging buffer holds: what ``moe_prefill_stage`` asks for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from expert_bank.refused import Refused
from expert_bank.sizes import parse_size, told

FIELD = "moe_prefill_stage"
# One layer's rows are read while those of the next one come.
MOST_LAYERS = 2
VALID = "give a number of layers, 1 or 2, or a size: 12GiB (KiB, MiB or GiB)"
_LAYERS = re.compile(r"[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True)
class StageRoom:
    """Room for cold rows, each of all row tensors.

    Attributes:
        rows: S, those that it holds.
        row_bytes: Of one.
        layers: C' of each layer: the cold experts that it has while all hot rows are filled.
        off: Why nothing is staged; empty where the room is there.
    """

    rows: int
    row_bytes: int
    layers: tuple[int, ...]
    off: str = ""

    @property
    def bytes(self) -> int:
        """What it takes of the device; 0 where nothing is staged."""
        return 0 if self.off else self.rows * self.row_bytes

    @property
    def whole(self) -> int:
        """Bytes with which each layer's rows could come while those before it are read."""
        return _pair(self.layers) * self.row_bytes


def stage_room(spec: str, *, cold: Sequence[int], row_bytes: Sequence[int]) -> StageRoom:
    """Read how much room the buffer has.

    Args:
        spec: What was asked for: ``2`` for two layers' cold rows, or a size.
        cold: Cold experts of each layer, in load order, while its hot rows are filled.
        row_bytes: Bytes of one expert's row in each of them, after the repack.

    Returns:
        The room. More than any two layers one behind the other have is never used, and not taken.

    Raises:
        Refused: It cannot be read.
    """
    layers = tuple(cold)
    sizes = {size for size, rows in zip(row_bytes, layers, strict=True) if rows}
    size = max(sizes, default=0)
    if _LAYERS.fullmatch(spec):
        count = int(spec)
        if not 1 <= count <= MOST_LAYERS:
            raise Refused(
                f"{FIELD} {spec!r}: more than {MOST_LAYERS} layers' rows are never there at once, and"
                " fewer than one layer's are no use",
                hint=VALID,
            )
        rows = max(layers) if count == 1 else _pair(layers)
    else:
        budget = parse_size(spec)
        if budget is None:
            raise Refused(f"{FIELD} {spec!r} is no size", hint=VALID)
        rows = min(budget // size, _pair(layers)) if size else 0
    return StageRoom(rows, size, layers, _off(spec, rows, size, layers, sizes))


def require_stageable(spec: str, mode: str) -> None:
    """Go on where cold rows may be staged, or are not to be.

    Args:
        spec: What was asked for; empty for nothing.
        mode: Where the cold rows are, as ``moe_cold_rows`` has it.

    Raises:
        Refused: They cannot be here.
    """
    if spec and mode == "file":
        raise Refused(
            f"{FIELD}: with moe_cold_rows file a step reads a row from the disk once, however many"
            " tokens picked it, and a copy would win nothing",
            hint=f"take {FIELD} out, or use moe_cold_rows mirror or exclusive",
        )


def _off(spec: str, rows: int, size: int, layers: Sequence[int], sizes: set[int]) -> str:
    if not sizes:
        return "no layer has cold experts"
    if len(sizes) > 1:
        return f"rows of {told(min(sizes))} and of {told(size)} do not share a buffer"
    if rows < max(layers):
        return (
            f"a layer has {max(layers)} cold rows ({told(max(layers) * size)}), and {FIELD} {spec!r}"
            f" has room for {rows}"
        )
    return ""


def _pair(layers: Sequence[int]) -> int:
    """The most rows that a layer and the next one with cold rows have together."""
    found = [rows for rows in layers if rows]
    pairs = [one + other for one, other in pairwise(found)]
    return max([*pairs, *found], default=0)
