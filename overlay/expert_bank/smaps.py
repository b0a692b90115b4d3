# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How large a mapping is by the kernel's own count."""

import re
from dataclasses import dataclass
from pathlib import Path

from expert_bank.proc import sizes_of, text_of
from expert_bank.refused import Refused
from expert_bank.sizes import told

HEADER = re.compile(r"^([0-9a-f]{1,16})-([0-9a-f]{1,16}) [r-][w-][x-][ps] .*$", re.MULTILINE)
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
    text = text_of(root / "proc/self/smaps")
    if text is None:
        raise Refused("host memory cannot be measured: /proc/self/smaps cannot be read")
    headers = list(HEADER.finditer(text))
    ends = [*(each.start() for each in headers[1:]), len(text)]
    within = [
        sizes_of(text[header.end() : end])
        for header, end in zip(headers, ends, strict=False)
        if address <= int(header[1], 16) and int(header[2], 16) <= address + length
    ]
    mapped, resident, swapped = (
        sum(entry.get(name, 0) for entry in within) for name in ("Size", "Rss", "Swap")
    )
    return Measured(mapped, resident, swapped)


def require_exact(found: Measured, expected: int, *, filled: bool) -> None:
    """Refuse memory that is not what the arithmetic says, within one hundredth.

    Args:
        found: What was measured; of several mappings, their sums.
        expected: Bytes.
        filled: Whether every page was written to, so that it must be in memory.

    Raises:
        Refused: It is more, or less.
    """
    counted = {"mapped": found.mapped, "in memory": found.resident if filled else expected}
    wrong = [
        f"{told(each)} {name} ({each / expected:.3f} of it)"
        for name, each in counted.items()
        if abs(each - expected) > TOLERANCE * expected
    ]
    if wrong:
        raise Refused(
            f"host memory: {told(expected)} by arithmetic, but {' and '.join(wrong)}, "
            f"{told(found.swapped)} swapped out"
        )
