"""Lines that read otherwise than they run."""

import re
from collections.abc import Container, Iterator

from lanewright.queue.diff import Hunk
from lanewright.queue.invisible import INVISIBLE, named

MARK = "\ufeff"
# Python ends a line there; what shows a text rarely does.
RETURN = re.compile(r"\r(?!\n)")


def odd_lines(
    path: str, hunk: Hunk, first: int, known: Container[bytes]
) -> Iterator[tuple[int, str]]:
    """Lines of a hunk that hold what nobody sees, each with its number and what that is.

    A line that was there before is not among them, be it moved or indented in another way. Bytes
    that are no UTF-8 are passed over one by one.

    Args:
        path: The file.
        hunk: The hunk.
        first: Number of its first line once it is in place.
        known: Lines that were there before, without the blanks around them.
    """
    if not _odd(path, b"".join(hunk.new)):
        return
    for number, line in enumerate(hunk.new, first):
        marked = number == 1 and line.startswith(MARK.encode())
        found = _odd(path, line[len(MARK.encode()) :] if marked else line)
        if found and line.strip() not in known:
            yield number, found


def _odd(path: str, raw: bytes) -> str:
    text = raw.decode("utf-8", "surrogateescape")
    found = INVISIBLE.search(text)
    if found:
        return named(found[0])
    if path.endswith(".py") and RETURN.search(text.removesuffix("\r")):
        return "a carriage return within a line"
    return ""
