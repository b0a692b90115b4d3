# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What the kernel tells as text, in ``/proc`` and ``/sys``."""

import re
from pathlib import Path

from expert_bank.refused import Refused

# Far above what Linux can be built for, so that a broken list does not fill the memory.
LARGEST = 2**16

FIELD = re.compile(r"^(?:Node +\d+ +)?([\w()]+):[ \t]*(\d+) kB$", re.ASCII | re.MULTILINE)
RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)


def text_of(path: Path) -> str | None:
    """Read a file of the kernel's; None where it is missing or may not be read."""
    try:
        # Never as a text file: a mapped file's name may hold a carriage return.
        return path.read_bytes().decode("utf-8", errors="replace")
    except OSError:
        return None


def sizes_of(text: str) -> dict[str, int]:
    """Read lines such as ``MemFree: 12 kB``, also of a node; bytes by name."""
    return {name: 1024 * int(count) for name, count in FIELD.findall(text)}


def number_of(path: Path) -> int | None:
    """Read a file that holds one number; None where it holds anything else, such as ``max``."""
    text = (text_of(path) or "").strip()
    return int(text) if re.fullmatch(r"\d{1,20}", text, re.ASCII) else None


def numbers_in(text: str) -> frozenset[int]:
    """Read a list such as ``0-71,144``.

    Raises:
        Refused: It is not such a list.
    """
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        matched = RANGE.fullmatch(part)
        first, last = (int(each or matched[1]) for each in matched.groups()) if matched else (1, 0)
        if not first <= last < LARGEST:
            raise Refused(f"the kernel's list {text.strip()[:80]!r} has the part {part[:40]!r}")
        found.update(range(first, last + 1))
    return frozenset(found)
