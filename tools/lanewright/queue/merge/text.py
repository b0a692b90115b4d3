"""A file's lines, in which blocks of lines are sought many times."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from lanewright.queue.merge.outline import Outline

SEVERAL = 2


class Text:
    """The lines of a file, and where each stands.

    Args:
        path: Tells the language.
        lines: Each with its end.
    """

    def __init__(self, path: str, lines: Sequence[bytes]) -> None:
        self.lines = lines
        self.outline = Outline(path, lines)

    @cached_property
    def _places(self) -> dict[bytes, list[int]]:
        places: dict[bytes, list[int]] = {}
        for number, line in enumerate(self.lines):
            places.setdefault(line, []).append(number)
        return places

    def count(self, block: Sequence[bytes]) -> int:
        """In how many places a block stands, each of which may touch the next; 2 means several."""
        count = 0
        for _ in self._found(block):
            count += 1
            if count == SEVERAL:
                break
        return count

    def find(self, block: Sequence[bytes]) -> int:
        """The number, from 0 on, of the line at which a block begins; it must be there."""
        return next(self._found(block))

    def _found(self, block: Sequence[bytes]) -> Iterator[int]:
        wanted = list(block)
        places = [(self._places.get(line, []), offset) for offset, line in enumerate(wanted)]
        rarest, offset = min(places, key=lambda each: len(each[0]))
        for number in rarest:
            start = number - offset
            if start >= 0 and list(self.lines[start : start + len(wanted)]) == wanted:
                yield start
