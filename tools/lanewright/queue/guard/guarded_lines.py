"""Lines that read otherwise than they run."""

import codecs
import re
from collections.abc import Iterator

from lanewright.invisible import CONTROL, INVISIBLE, named
from lanewright.queue.patch.diff import Hunk

MARK = "\ufeff".encode()
# Python ends a line there; what shows a text rarely does.
RETURN = re.compile(r"\r(?!\n)")
# What says how Python reads a file (PEP 263), on one of its first two lines.
CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
HEAD = 2
# Read otherwise, a comment may hold lines that run, as with UTF-7 and `unicode_escape`.
PLAIN = {"ascii", "utf-8", "utf-8-sig", "iso8859-1", "iso8859-15", "cp1252"}


def odd_lines(path: str, hunk: Hunk, first: int) -> Iterator[tuple[int, bytes, str]]:
    """Lines of a hunk that hold what nobody sees: number, line, and what it holds.

    Bytes that are no UTF-8 are passed over one by one.

    Args:
        path: The file.
        hunk: The hunk.
        first: Number of its first line once it is in place.
    """
    if first > HEAD and not _odd(path, b"".join(hunk.new)):
        return
    for number, line in enumerate(hunk.new, first):
        coding = _coding(line) if number <= HEAD and path.endswith(".py") else ""
        if coding:
            yield number, line, f"what lets Python read the file as {coding}"
            continue
        marked = number == 1 and line.startswith(MARK)
        found = _odd(path, line[len(MARK) :] if marked else line)
        if found:
            yield number, line, found


def _odd(path: str, raw: bytes) -> str:
    text = raw.decode("utf-8", "surrogateescape")
    found = INVISIBLE.search(text) or CONTROL.search(text)
    if found:
        return named(found[0])
    if path.endswith(".py") and RETURN.search(text.removesuffix("\r")):
        return "a carriage return within a line"
    return ""


def _coding(line: bytes) -> str:
    found = CODING.match(line.removeprefix(MARK))
    if not found:
        return ""
    try:
        name = codecs.lookup(found[1].decode("ascii", "replace")).name
    except LookupError:
        return ""  # so it does not compile
    return "" if name in PLAIN else name
