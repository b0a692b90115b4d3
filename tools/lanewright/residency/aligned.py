"""Tables for people: a first column of words, and numbers below one another."""

from collections.abc import Iterator


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Give lines in which the columns of all rows begin and end together."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
