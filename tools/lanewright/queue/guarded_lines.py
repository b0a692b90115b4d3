"""Lines that read otherwise than they run."""

import re
from collections.abc import Iterator

from lanewright.queue.diff import Hunk
from lanewright.queue.invisible import INVISIBLE, named

MARK = "\ufeff".encode()
# Python ends a line there; what shows a text rarely does.
RETURN = re.compile(r"\r(?!\n)")


def odd_lines(path: str, hunk: Hunk, first: int) -> Iterator[tuple[int, bytes, str]]:
    """Lines of a hunk that hold what nobody sees: number, line, and what it holds.

    Bytes that are no UTF-8 are passed over one by one.

    Args:
        path: The file.
        hunk: The hunk.
        first: Number of its first line once it is in place.
    """
    if not _odd(path, b"".join(hunk.new)):
        return
    for number, line in enumerate(hunk.new, first):
        marked = number == 1 and line.startswith(MARK)
        found = _odd(path, line[len(MARK) :] if marked else line)
        if found:
            yield number, line, found


def _odd(path: str, raw: bytes) -> str:
    text = raw.decode("utf-8", "surrogateescape")
    found = INVISIBLE.search(text)
    if found:
        return named(found[0])
    if path.endswith(".py") and RETURN.search(text.removesuffix("\r")):
        return "a carriage return within a line"
    return ""
