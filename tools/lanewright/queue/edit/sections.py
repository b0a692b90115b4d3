"""A TOML file as text, cut where its tables begin; joined again it is the same to the byte."""

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from lanewright.errors import LanewrightError

LINE = re.compile(r"[^\n]*\n|[^\n]+")
# What a header looks like, and some lines of an array over several lines.
HEADER = re.compile(r"""[ \t]*\[{1,2}[ \t]*["'A-Za-z0-9_-].*\][ \t]*(#.*)?\r?\n?""")


@dataclass(frozen=True)
class Section:
    """A table: its header line and keys, with the comments around them.

    Attributes:
        lead: Comment lines right above the header; empty for what stands before any header.
        content: From the header to the last line of the last value.
        below: Blank and comment lines that follow.
    """

    lead: str
    content: str
    below: str

    @property
    def text(self) -> str:
        """All of it."""
        return self.lead + self.content + self.below

    @property
    def keys(self) -> dict[str, Any]:
        """What it says, as if it were a file of its own."""
        return tomllib.loads(self.content)


def data_of(text: str) -> dict[str, Any]:
    """What a TOML file says.

    Raises:
        LanewrightError: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise LanewrightError(f"no valid TOML: {error}") from error


def sections(text: str) -> list[Section]:
    """Cut a file; the first section is what stands before any header, however little that is.

    Args:
        text: A valid TOML file.
    """
    found: list[Section] = []
    lead = ""
    pieces = _pieces(text)
    for number, piece in enumerate(pieces, 1):
        content, below = _content_and_below(piece)
        next_lead = ""
        if number < len(pieces):
            below, next_lead = _lead_apart(below)
        found.append(Section(lead, content, below))
        lead = next_lead
    return found


def _pieces(text: str) -> list[str]:
    """Cut before each header.

    A line that looks like a header is one if and only if the lines before it are complete; inside
    a value over several lines they are not.
    """
    pieces = [""]
    for line in LINE.findall(text):
        if HEADER.fullmatch(line) and _complete(pieces[-1]):
            pieces.append("")
        pieces[-1] += line
    return pieces


def _complete(piece: str) -> bool:
    try:
        tomllib.loads(piece)
    except ValueError:
        return False
    return True


def _content_and_below(piece: str) -> tuple[str, str]:
    """Cut after the last value; its last lines may look like comments, so the parser decides."""
    lines = LINE.findall(piece)
    end = len(lines)
    while end and lines[end - 1].strip()[:1] in {"", "#"}:
        end -= 1
    while end < len(lines) and not _complete("".join(lines[:end])):
        end += 1
    return "".join(lines[:end]), "".join(lines[end:])


def _lead_apart(below: str) -> tuple[str, str]:
    """Cut before the comment lines that touch the next header."""
    lines = LINE.findall(below)
    start = len(lines)
    while start and lines[start - 1].strip():
        start -= 1
    return "".join(lines[:start]), "".join(lines[start:])


def blank_apart(below: str) -> tuple[str, str]:
    """Cut before the first blank line: what is above it belongs to the table above."""
    lines = LINE.findall(below)
    end = 0
    while end < len(lines) and lines[end].strip():
        end += 1
    return "".join(lines[:end]), "".join(lines[end:])
