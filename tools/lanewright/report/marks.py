"""Text of others in Markdown: no part of it is a mark, a mention or a link."""

import re
from collections.abc import Iterable

from lanewright.invisible import visible
from lanewright.report.shown import cut, in_a_line

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
FENCE = re.compile(r"`{3,}")


def plain(text: str) -> str:
    """Text as it is, in one line."""
    escaped = SPECIAL.sub(r"\\\1", visible(" ".join(text.split())))
    for sign in ("@", "\\#", "www", "GH-"):
        escaped = escaped.replace(sign, f"{sign}\u200b")
    return escaped.replace("://", ":\u200b//")


def html(text: str) -> str:
    """The same, within a tag."""
    text = visible(" ".join(text.split())).replace("#", "#\u200b").replace("@", "@\u200b")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """Text in a code span, whatever ticks it holds."""
    text = in_a_line(text)
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(lines: list[str], language: str = "") -> list[str]:
    """Lines as they are; the fence is longer than any in them."""
    lines = [in_a_line(cut(line)) for line in lines]
    longest = max((len(found[0]) for line in lines for found in FENCE.finditer(line)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{language}", *lines, fence] if lines else []


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A table of cells that are Markdown already; nothing where it has no row."""
    names = list(head)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}", *lines] if lines else []
