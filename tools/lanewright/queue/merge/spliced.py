"""Lines with some of them replaced, without a copy of the others."""

from collections.abc import Sequence
from typing import overload


class Spliced(Sequence[bytes]):
    """What ``[*lines[:start], *inside, *lines[end:]]`` would be.

    Args:
        lines: All of them.
        start: First of those that are replaced.
        end: The one after the last.
        inside: What comes in their place.
    """

    def __init__(
        self, lines: Sequence[bytes], start: int, end: int, inside: Sequence[bytes]
    ) -> None:
        self._lines, self._inside = lines, inside
        self._start, self._end = start, end

    def __len__(self) -> int:
        return len(self._lines) - (self._end - self._start) + len(self._inside)

    @overload
    def __getitem__(self, index: int) -> bytes: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...

    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        numbers = range(len(self))[index]
        if isinstance(numbers, int):
            return self._at(numbers)
        return [self._at(number) for number in numbers]

    def _at(self, number: int) -> bytes:
        inside = number - self._start
        if inside < 0:
            return self._lines[number]
        if inside < len(self._inside):
            return self._inside[inside]
        return self._lines[self._end + inside - len(self._inside)]
