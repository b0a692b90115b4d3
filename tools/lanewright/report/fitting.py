"""Markdown that fits where it goes: what has no room is left out whole, and told."""

from collections.abc import Sequence
from dataclasses import dataclass

# GitHub takes 65,536 characters of a comment, which are no more than its bytes, and a mebibyte of a
# step's summary; other words may stand beside each.
COMMENT, SUMMARY = 65_000, 1_000_000
PARTS = "parts of {}"


@dataclass(frozen=True)
class Section:
    """A part that may be left out.

    Attributes:
        name: What it is, for the line that tells so.
        forms: It, and shorter forms of it, the longest first.
    """

    name: str
    forms: Sequence[str]


def fitted(head: str, sections: Sequence[Section], most: int, instead: str) -> str:
    """Put a text together of what has room.

    Args:
        head: What comes first; its end is cut off, in whole lines, where it alone is too long.
        sections: What follows, in order.
        most: Bytes of UTF-8, at most.
        instead: Where all of it is to be found, for whoever reads that something is left out.
    """
    # Each may be told as left out in part.
    worst = _size(_left([PARTS.format(section.name) for section in sections], instead))
    made, left = _cut(head, most - worst, instead), []
    for section in sections:
        room = most - worst - _size(made)
        form = next((form for form in section.forms if _size(form) + 2 <= room), None)
        if form is None:
            left.append(section.name)
            continue
        made += f"\n{form}\n"
        if form != section.forms[0]:
            left.append(PARTS.format(section.name))
    return made + (_left(left, instead) if left else "")


def _cut(text: str, most: int, instead: str) -> str:
    if _size(text) <= most:
        return text
    lines = text.split("\n")
    worst = _size(_more(len(lines), instead))
    size = kept = 0
    while size + _size(lines[kept]) + 1 + worst <= most:
        size += _size(lines[kept]) + 1
        kept += 1
    return "".join(f"{line}\n" for line in lines[:kept]) + _more(len(lines) - kept, instead)


def _more(count: int, instead: str) -> str:
    return f"\n_{count} more lines had no room: {instead}._\n"


def _left(names: Sequence[str], instead: str) -> str:
    return f"\n_Left out, for want of room: {', '.join(names)}: {instead}._\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
