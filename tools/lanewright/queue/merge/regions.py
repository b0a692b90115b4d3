"""Where a change stands: the definitions and openings around it, before and after a merge.

Methods with equal bodies, equal branches and equal sections are common in vLLM. Where upstream
moved or removed one of them, git can merge an edit cleanly into its twin; the merged text alone
does not show it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lanewright.queue.merge.outline import openings, symbol_of
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.patch.diff import HUNK
from lanewright.store.diffing import diff_of
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId

SECTION = re.compile(rb"diff --git a/(\S+) b/")


@dataclass(frozen=True)
class Region:
    """One changed place of a file.

    Attributes:
        symbol: Dotted name of the definitions around it.
        openings: Every line that opens a block around it, outermost first; a definition by its
            name alone, so that a changed signature is no other place.
    """

    symbol: str
    openings: tuple[str, ...]


def changed_regions(
    repository: Repository, before: TreeId, after: TreeId, contents: Mapping[str, tuple[str, bytes]]
) -> dict[str, set[Region]]:
    """Per changed path, the places of its changes.

    Args:
        repository: The store.
        before: Flat tree with simple names.
        after: The same, changed.
        contents: Per name, the path that the file really has, and its content in ``after``.
    """
    output = diff_of(repository, before, after, "-p", "-U0", "--no-ext-diff")
    lines = iter(split_lines(output))
    found: dict[str, set[Region]] = {}
    name, path, text = "", "", list[bytes]()
    for line in lines:
        if section := SECTION.match(line):
            name = section[1].decode()
            path, content = contents.get(name, ("", b""))
            text = split_lines(content)
        elif hunk := HUNK.match(line):
            removed, added = int(hunk[2] or 1), int(hunk[4] or 1)
            changed = [next(lines)[1:] for _ in range(removed + added)]
            # A pure removal is told by the line after which it was.
            at = int(hunk[3]) - 1 if added else int(hunk[3])
            around = openings(path, text, at, changed[removed:] or changed)
            found.setdefault(name, set()).add(Region(symbol_of(around), tuple(around)))
    return found
