"""Whether upstream took a hunk in word for word, beside lines of its own."""

import builtins
import keyword
import re
from collections.abc import Sequence

from lanewright.queue.diff import Hunk
from lanewright.queue.landed import anchor
from lanewright.queue.outline import Outline

NAME = re.compile(rb"[^\W\d]\w{2,}")
ANYWHERE = frozenset(
    name.encode() for name in (*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "cls")
)

Lines = Sequence[bytes]


def stands_beside(path: str, hunk: Hunk, base: Lines, ours: Lines) -> bool:
    """Whether a file has all that a hunk makes of its place, and more lines around it.

    What is called landed is carried no more and nobody is asked, so anything doubtful is not:

    - The lines around the place are as on the base, out to one on each side that each file has
      once; only an end of the file may stand for one of them.
    - Between them the hunk's lines stand once and in one piece, and none that it takes away is
      left.
    - They bring in a name that the base does not have: ``return x`` may be there for another
      reason, and be wanted twice.
    - The blocks around them are those that the hunk has around it on its base.

    Args:
        path: Tells the language.
        hunk: A hunk that git cannot merge.
        base: Lines of the file that it was made on.
        ours: Lines of the file that may have it.
    """
    first, last = hunk.first_change, hunk.last_change
    wanted = list(hunk.replacement)
    place = _place(hunk, base, ours)
    if not wanted or not place or not _is_telling(hunk, base):
        return False
    start, end = place
    starts = [at for at in range(start, end) if list(ours[at : at + len(wanted)]) == wanted]
    if len(starts) != 1 or starts[0] + len(wanted) > end:
        return False
    at = starts[0]
    more = [*ours[start:at], *ours[at + len(wanted) : end]]
    if not more or not set(hunk.removed).isdisjoint(more):
        return False
    if at > start and ours[at - 1].lstrip().startswith(b"@"):
        return False  # a decorator makes another thing of what is below it
    merged = [*base[:first], *wanted, *base[last:]]
    return _around(path, merged, first, wanted) == _around(path, ours, at, wanted)


def _place(hunk: Hunk, base: Lines, ours: Lines) -> tuple[int, int] | None:
    """Where a file has what stands in a hunk's place; None where the lines around it differ."""
    first, last = hunk.first_change, hunk.last_change
    above = anchor(base, ours, range(first - 1, -1, -1))
    below = anchor(base, ours, range(last, len(base)))
    if above is None and below is None:
        return None
    if above is None:
        above = (0, 0)
    if below is None:
        below = (len(base), len(ours))
    start, end = above[1] + first - above[0], below[1] - (below[0] - last)
    as_before = (
        start <= end
        and list(ours[above[1] : start]) == list(base[above[0] : first])
        and list(ours[end : below[1]]) == list(base[last : below[0]])
    )
    return (start, end) if as_before else None


def _is_telling(hunk: Hunk, base: Lines) -> bool:
    """Whether a hunk brings in a name that its base does not have."""
    brought = frozenset(NAME.findall(b"".join(hunk.added))) - ANYWHERE
    return bool(brought - frozenset(NAME.findall(b"".join(base))))


def _around(path: str, lines: Lines, at: int, changed: Lines) -> tuple[list[str], bool]:
    outline = Outline(path, lines)
    return outline.openings(at, changed), outline.in_string(at)
