"""Hunks as a person reads them: one in a line, and its text."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchedFile, PatchSet

from lanewright.errors import LanewrightError
from lanewright.invisible import visible
from lanewright.queue.patch.quoting import unquote
from lanewright.terminal import printable


class Named(Protocol):
    """What a hunk is called, be it in a lock or still upstream."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def path(self) -> str:
        """The file that it changes."""

    @property
    def symbol(self) -> str:
        """What encloses it, or empty."""

    @property
    def lines(self) -> str:
        """Where it stands on its own base, as ``first+count``, or a word where it has no text."""


def hunk_line(hunk: Named, what: str) -> str:
    """A hunk's name and place, and what is to be said of it."""
    where = f" in {hunk.symbol}" if hunk.symbol else ""
    return f"{visible(printable(hunk.path))}:{hunk.id}{where}  {what}"


def range_of(hunk: Named) -> str:
    """Where a hunk stands on its own base, e.g. ``lines 7-12``."""
    if not has_text(hunk):
        return hunk.lines
    first, count = map(int, hunk.lines.split("+"))
    if count == 0:
        return f"before line {first}"
    return f"line {first}" if count == 1 else f"lines {first}-{first + count - 1}"


def has_text(hunk: Named) -> bool:
    """Whether a diff shows it; a mode, an empty file and a file taken as a whole have no lines."""
    return "+" in hunk.lines


def hunk_texts(diff: bytes, source: str, hunks: Sequence[Named]) -> Iterator[str]:
    """What a diff shows of each of its hunks; empty for one that has no lines.

    Args:
        diff: As git prints it.
        source: Its name, for messages.
        hunks: All that it has, in its order.

    Raises:
        LanewrightError: unidiff cannot read it.
    """
    try:
        sections = PatchSet(diff.decode("utf-8", "replace"))
    except UnidiffParseError as error:
        raise LanewrightError(f"{source}: unidiff cannot show it: {error}") from error
    shown = {_path(file): iter([str(hunk) for hunk in file]) for file in sections}
    return (next(shown[hunk.path]) if has_text(hunk) else "" for hunk in hunks)


def _path(file: PatchedFile) -> str:
    """The file's path; unidiff's own keeps git's quotes."""
    name = file.source_file if file.target_file == "/dev/null" else file.target_file
    return unquote(name.encode()).partition("/")[2]
