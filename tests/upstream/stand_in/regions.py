"""Where upstream changed its files: the hunks of its own diff, as line numbers."""

import re
from dataclasses import dataclass

from lanewright.store.git import Repository
from lanewright.store.objects import TreeId

FILE = re.compile(rb"diff --git a/(.+) b/\1")
HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Region:
    """Lines that upstream replaced; numbers count from 0.

    Attributes:
        old: First replaced line, or the line before which lines were added.
        removed: How many lines went.
        new: Where the new lines begin in the new file.
        added: How many lines came.
    """

    old: int
    removed: int
    new: int
    added: int

    @property
    def old_end(self) -> int:
        """The line after the last replaced one."""
        return self.old + self.removed


def regions(repository: Repository, before: TreeId, after: TreeId) -> dict[str, list[Region]]:
    """The hunks between two trees by path, without context, as git's merge would find them.

    Files with names that git quotes are left out.
    """
    flags = ("-r", "-p", "-U0", "--no-renames", "--no-color", "--no-indent-heuristic")
    output = repository.run("diff-tree", *flags, "--diff-algorithm=histogram", before, after)
    found: dict[str, list[Region]] = {}
    current: list[Region] = []
    for line in output.stdout.split(b"\n"):
        # A line of content begins with +, - or a backslash.
        if match := FILE.fullmatch(line):
            current = found.setdefault(match[1].decode("utf-8", "surrogateescape"), [])
        elif match := HUNK.match(line):
            old, removed, new, added = (int(value or b"1") for value in match.groups())
            # Where one side has no lines, git names the line before.
            current.append(Region(old - (removed > 0), removed, new - (added > 0), added))
    return found
