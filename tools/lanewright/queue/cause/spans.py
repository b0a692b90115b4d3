"""The lines that differ between two states of files, as git's merge compares them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lanewright.queue.patch.diff import HUNK
from lanewright.store.diffing import diff_of
from lanewright.store.git import Repository
from lanewright.store.objects import File
from lanewright.store.trees import flat_trees

SECTION = re.compile(rb"diff --git a/(\d+) b/\d+")
FLAGS = ("--unified=0", "--histogram", "--text", "--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(frozen=True)
class Span:
    """Changed lines, 0-based: from ``old`` on ``removed`` of the one side, ``added`` in place."""

    old: int
    removed: int
    added: int


def spans_of(
    repository: Repository, sides: Mapping[str, tuple[File, File]]
) -> dict[str, list[Span]]:
    """Per name, the lines that differ between its two contents, in order; in one git call.

    Args:
        repository: The store.
        sides: Each name's content before and after.
    """
    names = {str(number): name for number, name in enumerate(sides)}
    trees = [{n: _plain(sides[name][at]) for n, name in names.items()} for at in (0, 1)]
    output = diff_of(repository, *flat_trees(repository, trees), "-p", *FLAGS)
    found: dict[str, list[Span]] = {name: [] for name in sides}
    for number, span in _read(output):
        found[names[number]].append(span)
    return found


def _read(output: bytes) -> Iterator[tuple[str, Span]]:
    lines = iter(output.split(b"\n"))
    number = ""
    for line in lines:
        if section := SECTION.fullmatch(line):
            number = section[1].decode()
        elif found := HUNK.match(line):
            removed, added = int(found[2] or 1), int(found[4] or 1)
            yield number, Span(int(found[1]) - (removed > 0), removed, added)
            _skip(lines, removed + added)


def _skip(lines: Iterator[bytes], count: int) -> None:
    """Pass over what changed, which may look like anything."""
    for _ in range(count):
        next(lines)


def _plain(file: File) -> File:
    """The same content as a regular file, whose mode says nothing."""
    return File("100644", file.blob)
