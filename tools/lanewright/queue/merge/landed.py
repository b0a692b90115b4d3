"""Whether upstream took a hunk in with edits."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import unified_diff

from lanewright.queue.patch.diff import Hunk

ALIKE = 0.5
COMMON = 0.05
WORD = re.compile(rb"\w+|[^\w\s]")
NAME = re.compile(rb"\w")
MOST_LINES = 400
MOST_SHOWN = 40


def edited(hunk: Hunk, base: Sequence[bytes], ours: Sequence[bytes]) -> str:
    """How upstream's lines at a hunk's place differ from what it would make of them.

    Empty where what upstream brought in there is not much like what the hunk brings in: the share
    of words that both have is below ``ALIKE``, and the hunk's lines are not there as they are. A
    likeness is no proof, so nothing is dropped for it without a person's word.

    Args:
        hunk: A hunk that git cannot merge.
        base: Lines of the file that it was made on.
        ours: Lines of the file as upstream has it.

    Returns:
        A unified diff from the hunk's lines to upstream's.
    """
    lead = hunk.first_change - hunk.old_start
    tail = hunk.old_start + len(hunk.old) - hunk.last_change
    wanted = hunk.new[lead : len(hunk.new) - tail]
    before = base[hunk.first_change : hunk.last_change]
    found = _between(hunk, base, ours)
    if not found or not wanted or max(len(found), len(wanted)) > MOST_LINES:
        return ""
    if [line.split() for line in wanted] == [line.split() for line in found]:
        return ""  # only blanks differ, and in Python they are code
    known = frozenset(WORD.findall(b"".join(base)))
    likeness = _likeness(_brought(before, wanted), _brought(before, found), known)
    if likeness < ALIKE and not (_holds(found, wanted) and not _holds(before, wanted)):
        return ""
    told = unified_diff(_text(wanted), _text(found), "the hunk", "upstream", n=1, lineterm="")
    return "\n".join(list(told)[:MOST_SHOWN])


def _holds(lines: Sequence[bytes], block: Sequence[bytes]) -> bool:
    """Whether the block, which says something, stands in these lines word for word."""
    size = len(block)
    starts = range(len(lines) - size + 1)
    return any(NAME.search(line) for line in block) and any(
        list(lines[at : at + size]) == list(block) for at in starts
    )


def _between(hunk: Hunk, base: Sequence[bytes], ours: Sequence[bytes]) -> Sequence[bytes]:
    """Upstream's lines between the nearest context lines that it still has, above and below.

    Only a line that stands once on either side tells a place.
    """
    above = _anchor(base, ours, range(hunk.first_change - 1, -1, -1))
    below = _anchor(base, ours, range(hunk.last_change, len(base)))
    start = 0 if above is None else above[1] + hunk.first_change - above[0]
    end = len(ours) if below is None else below[1] - (below[0] - hunk.last_change)
    return ours[start:end] if start <= end else ()


def _anchor(
    base: Sequence[bytes], ours: Sequence[bytes], numbers: Sequence[int]
) -> tuple[int, int] | None:
    """The first of these lines of the base that stands once in each: where, in each."""
    for number in numbers:
        line = base[number]
        if line.strip() and base.count(line) == 1 and ours.count(line) == 1:
            return number, ours.index(line)
    return None


def _brought(before: Sequence[bytes], after: Sequence[bytes]) -> Counter[bytes]:
    """Words and signs that ``after`` has more of."""
    return Counter(WORD.findall(b"".join(after))) - Counter(WORD.findall(b"".join(before)))


def _likeness(one: Counter[bytes], other: Counter[bytes], known: frozenset[bytes]) -> float:
    """Dice's coefficient; words that the file has elsewhere, and signs, weigh less.

    Two lines of log, two arguments or two imports have much in common, and none of it is theirs.
    """
    total = _weight(one, known) + _weight(other, known)
    return 2 * _weight(one & other, known) / total if total else 0.0


def _weight(words: Counter[bytes], known: frozenset[bytes]) -> float:
    return sum(
        count * (COMMON if word in known or not NAME.match(word) else 1.0)
        for word, count in words.items()
    )


def _text(lines: Sequence[bytes]) -> list[str]:
    return [line.decode("utf-8", "replace").rstrip("\n") for line in lines]
