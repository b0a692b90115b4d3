"""The part of a large file in which a hunk is tried, so that many hunks cost no more than the file.

A file that is generated can have hundreds of thousands of lines and thousands of hunks. Each hunk
is merged alone, and with the whole file around it that would be the one times the other.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from lanewright.queue.cause.spans import Span, spans_of
from lanewright.queue.merge.spliced import Spliced
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.merge.text import Text
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.queue.patch.diff import Hunk
from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs

MOST_BYTES = 32 << 20
MARGIN = 300

Lines = Sequence[bytes]


@dataclass(frozen=True)
class Window:
    """A hunk and the lines around it, on its base and where it is merged onto.

    Attributes:
        hunk: The hunk, where it stands in these lines.
        base: The lines that open the blocks around the window, then its own.
        ours: The same of the other side.
        texts: The two files.
        taken: The lines of ``ours`` that the file has there, from and up to.
    """

    hunk: Hunk
    base: Lines
    ours: Lines
    texts: tuple[Text, Text]
    taken: tuple[int, int]

    def whole(self, merged: Lines) -> Lines:
        """The file, with what a merge made of this window."""
        start, end = self.taken
        above = len(self.ours) - (end - start)
        return Spliced(self.texts[1].lines, start, end, merged[above:])


def large_windows(
    repository: Repository,
    on_base: OnBase,
    units: Sequence[Unit],
    current: Mapping[str, File],
    most: int = MOST_BYTES,
    margin: int = MARGIN,
) -> dict[str, Window]:
    """By id, windows of those hunks whose files are too large to be merged once per hunk.

    Args:
        repository: The store.
        on_base: The change.
        units: What is to be merged, each alone.
        current: The files that they are merged onto.
        most: How many bytes may be merged of one file, over all of its hunks.
        margin: How many lines to keep around a hunk.
    """
    by_path: dict[str, dict[str, Hunk]] = {}
    for unit in units:
        if unit.hunk and on_base.sides[unit.path] and unit.path in current:
            by_path.setdefault(unit.path, {})[unit.id] = unit.hunk
    found: dict[str, Window] = {}
    for path, hunks in by_path.items():
        base = on_base.contents[path]
        if sum(map(len, base)) * len(hunks) > most:
            side, blob = on_base.sides[path], current[path].blob
            changed = spans_of(repository, {path: (side, current[path])} if side else {})
            ours = split_lines(read_blobs(repository, [blob])[blob])
            found |= windows(path, hunks, base, ours, changed[path], margin)
    return found


def windows(
    path: str,
    hunks: Mapping[str, Hunk],
    base: Lines,
    ours: Lines,
    changed: Sequence[Span],
    margin: int,
) -> dict[str, Window]:
    """For each hunk the lines around it, cut where ``base`` and ``ours`` are the same.

    Outside of its window neither side of a merge differs from ``ours``, so what the merge makes of
    the window is what it makes of the file. What opens the blocks around it is told by the files.

    Args:
        path: Tells the language.
        hunks: By name.
        base: Lines of the file that they are made on.
        ours: Lines of the file that they are merged onto.
        changed: From the one to the other, in order.
        margin: How many lines to keep on each side, at least.
    """
    texts = Text(path, base), Text(path, ours)
    outlines = [text.outline for text in texts]
    ends = [each.old + each.removed for each in changed]
    shifts = [0, *accumulate(each.added - each.removed for each in changed)]
    found = {}
    for name, hunk in hunks.items():
        low, high = max(hunk.old_start - margin, 0), hunk.old_start + len(hunk.old) + margin
        at = bisect_left(ends, low)
        while low > 0:
            if at < len(changed) and changed[at].old <= low:
                low = max(changed[at].old - 1, 0)
            elif outlines[0].in_string(low) or outlines[1].in_string(low + shifts[at]):
                low -= 1
            else:
                break
            at = bisect_left(ends, low)
        to = bisect_left(ends, high)
        while to < len(changed) and changed[to].old <= high:
            high = ends[to] + 1
            to = bisect_left(ends, high)
        start = low + shifts[at] if low else 0
        end = high + shifts[to] if high < len(base) else len(ours)
        above = outlines[0].above(low), outlines[1].above(start)
        shift = len(above[0]) - low
        moved = replace(
            hunk,
            old_start=hunk.old_start + shift,
            first_change=hunk.first_change + shift,
            last_change=hunk.last_change + shift,
        )
        lines = ([*above[0], *base[low:high]], [*above[1], *ours[start:end]])
        found[name] = Window(moved, *lines, texts, (start, end))
    return found
