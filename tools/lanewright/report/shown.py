"""Text of others, made fit to be shown: nothing in it moves a cursor, or hides from the reader."""

from lanewright.invisible import visible

WIDE = 200


def in_a_line(text: str) -> str:
    """The same with what nobody sees written out, in one line."""
    return visible(text).replace("\n", "\\n")


def cut(line: str, most: int = WIDE) -> str:
    """A line, of which a very long one is cut short."""
    more = len(line) - most
    return line if more <= 0 else f"{line[:most]}... {more} more characters"
