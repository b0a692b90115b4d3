"""Text of others, made fit to be shown: nothing in it moves a cursor, or hides from the reader."""

import re

from lanewright.queue.guard.invisible import visible

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
WIDE = 200


def shown(text: str) -> str:
    """The same with control characters written out, as Python would; tabs and new lines stay."""
    return visible(CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text))


def in_a_line(text: str) -> str:
    """The same, in one line."""
    return shown(text).replace("\n", "\\n")


def cut(line: str) -> str:
    """A line of code, of which a very long one is cut short."""
    more = len(line) - WIDE
    return line if more <= 0 else f"{line[:WIDE]}... {more} more characters"
