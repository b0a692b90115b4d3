# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How many rows of each layer are hot: one number, a vector, what fits, or whole layers."""

import re
from collections.abc import Sequence

from expert_bank.refused import Refused
from expert_bank.sizes import parse_size

VALID = (
    "give a number for every layer (295), one number a layer (12,16,0,16), what fits"
    " (fit:200GiB; KiB, MiB or GiB), or either the first or the last behind position:"
)
_FIT = "fit:"
_POSITION = "position:"
_NUMBER = re.compile(r"[0-9]{1,9}")


def hot_rows(spec: str, *, experts: Sequence[int], row_bytes: Sequence[int]) -> tuple[int, ...]:
    """Read how many rows of each layer are hot.

    - ``295``: as many in each layer.
    - ``12,16,0,16``: a vector, one number a layer.
    - ``fit:200GiB``: the largest number, the same in each layer, whose rows fit (a layer with fewer
      experts has all of them hot); then one row more a layer, from the first on, up to the first
      that does not fit.
    - ``position:`` before a number or a fit: the same total of rows, and no more bytes than a fit
      has, to the first layers whole: ``E,E,..,r,0,0``.

    Args:
        spec: What was asked for.
        experts: E of each layer, in load order.
        row_bytes: Bytes of one expert's rows in each layer, all its row tensors together.

    Returns:
        H of each layer, 0..E.

    Raises:
        Refused: The spec cannot be read, or asks for more than a layer has.
        ValueError: ``experts`` and ``row_bytes`` are of no model.
    """
    if not experts or len(experts) != len(row_bytes) or min(*experts, *row_bytes) < 1:
        raise ValueError(f"no layers, or not a row size each: {experts}, {row_bytes}")
    rest = spec.removeprefix(_POSITION)
    by_position = rest != spec
    if rest.startswith(_FIT):
        size = rest.removeprefix(_FIT)
        budget = parse_size(size)
        if budget is None:
            raise _unreadable(spec, f"{size!r} is no size")
        hot = _fitting(budget, experts, row_bytes)
    elif "," in rest:
        if by_position:
            raise _unreadable(spec, f"a vector ({rest!r}) has its own order of layers")
        budget = None
        hot = _vector(spec, rest.split(","), experts)
    else:
        budget = None
        hot = _vector(spec, [rest] * len(experts), experts)
    return _whole(sum(hot), budget, experts, row_bytes) if by_position else hot


def _vector(spec: str, parts: Sequence[str], experts: Sequence[int]) -> tuple[int, ...]:
    """Read one number a layer, each 0..E."""
    for part in parts:
        if not _NUMBER.fullmatch(part.strip(" ")):
            raise _unreadable(spec, f"{part!r} is no number of rows")
    if len(parts) != len(experts):
        raise _unreadable(spec, f"it has {len(parts)} numbers, and the model {len(experts)} layers")
    hot = tuple(int(part) for part in parts)
    for layer, (rows, most) in enumerate(zip(hot, experts, strict=True)):
        if rows > most:
            raise Refused(
                f"moe_hot_experts {spec!r}: {rows} is more than layer {layer}'s {most} experts",
                hint=f"give 0 to {most}",
            )
    return hot


def _fitting(budget: int, experts: Sequence[int], row_bytes: Sequence[int]) -> tuple[int, ...]:
    """Find the largest number for every layer within a budget, and hand out what is left."""

    def of_each(rows: int) -> tuple[int, ...]:
        return tuple(min(rows, most) for most in experts)

    def size(hot: Sequence[int]) -> int:
        return sum(rows * each for rows, each in zip(hot, row_bytes, strict=True))

    fits, too_many = 0, max(experts) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if size(of_each(middle)) <= budget else (fits, middle)
    hot = list(of_each(fits))
    left = budget - size(hot)
    for layer, (most, each) in enumerate(zip(experts, row_bytes, strict=True)):
        if hot[layer] < most:
            if each > left:
                break
            hot[layer] += 1
            left -= each
    return tuple(hot)


def _whole(
    total: int, budget: int | None, experts: Sequence[int], row_bytes: Sequence[int]
) -> tuple[int, ...]:
    """Give rows to the first layers whole until their number or their bytes are used up."""
    hot = []
    for most, each in zip(experts, row_bytes, strict=True):
        rows = min(most, total)
        if budget is not None:
            rows = min(rows, budget // each)
            budget -= rows * each
        hot.append(rows)
        total = total - rows if rows == most else 0
    return tuple(hot)


def _unreadable(spec: str, what: str) -> Refused:
    return Refused(f"moe_hot_experts {spec!r}: {what}", hint=VALID)
