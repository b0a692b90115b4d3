# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Sizes in bytes as people write and read them: binary units, and no others."""

import re
from fractions import Fraction

UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(KiB|MiB|GiB)")


def parse_size(text: str) -> int | None:
    """Read a size such as ``200GiB`` or ``206.5GiB``.

    Returns:
        Bytes, rounded down; None where the text is no size.
    """
    found = _SIZE.fullmatch(text)
    return int(Fraction(found[1]) * UNITS[found[2]]) if found else None


def told(size: int) -> str:
    """Write a number of bytes in the largest binary unit that it reaches, to two places."""
    for unit, scale in reversed(UNITS.items()):
        if abs(size) >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size} B"
