"""Chosen hunks of a patch, put onto the patch's own base: byte for byte, or not at all."""

from collections.abc import Iterable

from lanewright.errors import LanewrightError
from lanewright.queue.patch.diff import FilePatch, Hunk


class BaseMismatchError(LanewrightError):
    """A patch does not match the base that it names."""


def split_lines(content: bytes) -> list[bytes]:
    """Lines with their ends; only a line feed ends a line."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop().removesuffix(b"\n")
    return [*lines, last] if last else lines


def apply(
    base: list[bytes], file: FilePatch, chosen: Iterable[Hunk], *, source: str, base_name: str
) -> bytes:
    """The file with the chosen hunks in place.

    Every hunk is put at the line it names; nothing is searched for.

    Args:
        base: Lines of the file on the patch's own base.
        file: The file's section of the patch.
        chosen: Hunks to take, in file order.
        source: The patch's name, for messages.
        base_name: The base's name, for messages.

    Raises:
        BaseMismatchError: An old line is not what the base holds there.
    """
    result: list[bytes] = []
    done = 0
    for hunk in chosen:
        end = hunk.old_start + len(hunk.old)
        found = base[hunk.old_start : end]
        if not done <= hunk.old_start <= len(base) or tuple(found) != hunk.old:
            raise BaseMismatchError(
                _difference(hunk, found, f"{source}: {file.path}, hunk {hunk.number}", base_name),
                hint="the patch file was edited by hand, or its `Base:` is not where it was made;"
                " restore it, or make it again with `git diff --full-index`",
            )
        result += base[done : hunk.old_start]
        result += hunk.new
        done = end
    return b"".join([*result, *base[done:]])


def _difference(hunk: Hunk, found: list[bytes], place: str, base_name: str) -> str:
    for offset, expected in enumerate(hunk.old):
        line = hunk.old_start + offset + 1
        actual = found[offset] if offset < len(found) else None
        if actual != expected:
            has = "the file ends" if actual is None else f"{_shown(actual)}"
            return (
                f"{place}: does not match its base {base_name} at line {line}:\n"
                f"  the patch has {_shown(expected)}\n  the base has  {has}"
            )
    if not hunk.old:
        return (
            f"{place}: cannot insert after line {hunk.old_start} of its base {base_name}: the file"
            " ends before it, or the hunk before reaches past it"
        )
    return f"{place}: overlaps the hunk before it"


def _shown(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace"))
