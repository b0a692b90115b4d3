# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How large a mapping is by the kernel's own count."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from expert_bank.proc import sizes_of, text_of
from expert_bank.refused import Refused
from expert_bank.sizes import told

HEADER = re.compile(r"^([0-9a-f]{1,16})-([0-9a-f]{1,16}) [r-][w-][x-][ps] .*$", re.MULTILINE)
# Start, end and sizes of each part, in bytes.
Smaps: TypeAlias = Sequence[tuple[int, int, Mapping[str, int]]]
# Of the arithmetic; beyond it something rounds, or memory is shared or swapped out.
TOLERANCE = 0.01


@dataclass(frozen=True)
class Measured:
    """A mapping in bytes.

    Attributes:
        mapped: Of address space.
        resident: In memory.
        swapped: Written out.
    """

    mapped: int
    resident: int
    swapped: int


def measure(address: int, length: int, *, root: Path = Path("/")) -> Measured:
    """Sum what ``/proc/self/smaps`` says of all that lies within a range.

    Raises:
        Refused: The kernel does not tell.
    """
    return measured([(address, length)], read_smaps(root=root))


def measured(ranges: Sequence[tuple[int, int]], smaps: Smaps) -> Measured:
    """Sum what lies within ranges, each an address and a length, no two of which overlap."""
    within = [
        sizes
        for address, length in ranges
        for start, end, sizes in smaps
        if address <= start and end <= address + length
    ]
    mapped, resident, swapped = (
        sum(entry.get(name, 0) for entry in within) for name in ("Size", "Rss", "Swap")
    )
    return Measured(mapped, resident, swapped)


def read_smaps(*, root: Path = Path("/")) -> Smaps:
    """Read what the kernel says of each part of this process's memory.

    Raises:
        Refused: It does not tell.
    """
    text = text_of(root / "proc/self/smaps")
    if text is None:
        raise Refused("host memory cannot be measured: /proc/self/smaps cannot be read")
    headers = list(HEADER.finditer(text))
    ends = [*(each.start() for each in headers[1:]), len(text)]
    return [
        (int(header[1], 16), int(header[2], 16), sizes_of(text[header.end() : end]))
        for header, end in zip(headers, ends, strict=False)
    ]


def require_exact(
    found: Measured,
    expected: int,
    *,
    filled: bool,
    what: str = "host memory",
    rounding: int = 0,
) -> None:
    """Refuse memory that is not what the arithmetic says, within one hundredth.

    Args:
        found: What was measured; of several mappings, their sums.
        expected: Bytes.
        filled: Whether every page was written to, so that it must be in memory.
        what: Was measured, for the message.
        rounding: Bytes that it may have more, for mappings are whole pages.

    Raises:
        Refused: It is more, or less.
    """
    counted = {"mapped": found.mapped, "in memory": found.resident if filled else expected}
    wrong = [
        f"{told(each)} {name} ({each / max(expected, 1):.3f} of it)"
        for name, each in counted.items()
        if not -TOLERANCE * expected <= each - expected <= TOLERANCE * expected + rounding
    ]
    if wrong:
        raise Refused(
            f"{what}: {told(expected)} by arithmetic, but {' and '.join(wrong)}, "
            f"{told(found.swapped)} swapped out"
        )
