"""Which of several equal places a hunk was made for: told by the nearest lines that are unique."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lanewright.queue.merge.outline import depth_of
from lanewright.queue.merge.text import Text
from lanewright.queue.patch.diff import Hunk

LONGEST = 200
WORD = re.compile(rb"\w")


def fits_several(hunk: Hunk, base: Text, ours: Text) -> bool:
    """Whether what a hunk changes, with the line above or below, stands in more than one place."""
    first, last = hunk.first_change, hunk.last_change
    cores = (base.lines[max(first - 1, 0) : last], base.lines[first : last + 1])
    return any(core and text.count(core) > 1 for core in cores for text in (base, ours))


def is_anchored(hunk: Hunk, base: Text, ours: Text, result: Sequence[bytes]) -> bool:
    """Whether a merge put a hunk next to the lines that it stood next to.

    The lines directly above the change are extended upwards until they are unique on the base,
    and likewise downwards; where ``ours`` has such an anchor once, the change must touch it. An
    anchor that stays inside the block of the change outweighs one that reaches into the next
    block, for upstream may have put another block between.

    In a run of equal blocks an anchor reaches past the next of them, and a block more or less in
    the run would move it. There both anchors must agree; and where ``ours`` lacks one, the run must
    have as many blocks as it had.

    Args:
        hunk: The hunk.
        base: The file that it was made on.
        ours: The file that it was merged onto.
        result: Lines of the merged file.
    """
    answers = [
        answer
        for answer in (_above(hunk, base, ours, result), _below(hunk, base, ours, result))
        if answer
    ]
    around = _run_around(hunk, base.lines)
    runs = [run for run in (around, *(answer.run for answer in answers)) if run]
    if runs:
        agreed = len(answers) > 1 or all(_as_many(run, base.lines, ours.lines) for run in runs)
        return agreed and all(answer.touches for answer in answers)
    inside = [answer.touches for answer in answers if answer.is_inside]
    outside = [answer.touches for answer in answers if not answer.is_inside]
    return all(inside or outside) and bool(inside or outside)


@dataclass(frozen=True)
class _Answer:
    """What an anchor says.

    Attributes:
        touches: Whether the change touches it.
        is_inside: Whether it is inside the change's block.
        run: Of a run of equal blocks that it reaches into, one block; else nothing.
    """

    touches: bool
    is_inside: bool
    run: Sequence[bytes]


def _above(hunk: Hunk, base: Text, ours: Text, result: Sequence[bytes]) -> _Answer | None:
    first = hunk.first_change
    sizes = range(1, min(first, LONGEST) + 1)
    anchors = (base.lines[first - size : first] for size in sizes)
    anchor = next((each for each in anchors if base.count(each) == 1), None)
    if anchor is None or ours.count(anchor) != 1:
        return None
    end = ours.find(anchor) + len(anchor)
    lead = first - hunk.old_start
    touches = list(result[end : end + 1]) == list(hunk.new[lead : lead + 1])
    # Its first line may be the one that opens the block.
    is_inside = not _leaves(hunk, base.lines, anchor[1:])
    return _Answer(touches, is_inside, _run(base.lines, first - len(anchor) + 1, first))


def _below(hunk: Hunk, base: Text, ours: Text, result: Sequence[bytes]) -> _Answer | None:
    last = hunk.last_change
    sizes = range(1, min(len(base.lines) - last, LONGEST) + 1)
    anchors = (base.lines[last : last + size] for size in sizes)
    anchor = next((each for each in anchors if base.count(each) == 1), None)
    if anchor is None or ours.count(anchor) != 1:
        return None
    # Nothing below the change moved, so the distance from the end is the same.
    start = ours.find(anchor) + len(result) - len(ours.lines)
    end = len(hunk.new) - (hunk.old_start + len(hunk.old) - last)
    touches = list(result[max(start - 1, 0) : max(start, 0)]) == list(
        hunk.new[max(end - 1, 0) : end]
    )
    is_inside = not _leaves(hunk, base.lines, anchor)
    return _Answer(touches, is_inside, _run(base.lines, last, last + len(anchor) - 1))


def _run(base: Sequence[bytes], start: int, end: int) -> Sequence[bytes]:
    """One block of the run of equal ones that these lines are in, where they repeat at once."""
    size = end - start
    for away in range(1, size + 1):
        for at in (start - away, start + away):
            if at >= 0 and base[at : at + size] == base[start:end]:
                block = base[start : start + away]
                return block if b"".join(block).strip() else ()
    return ()


def _run_around(hunk: Hunk, base: Sequence[bytes]) -> Sequence[bytes]:
    """One block of the run of equal ones in which a change is made, be it in the first or last."""
    first, last = hunk.first_change, hunk.last_change
    for away in range(1, LONGEST + 1):
        low, high = max(first - 2 * away, 0), min(last + away, len(base) - away)
        # So many lines on end have one of these among them, and mostly none is alike.
        if not any(base[at] == base[at + away] for at in range(low + away - 1, high, away)):
            continue
        alike = 0
        for at in range(low, high):
            alike = alike + 1 if base[at] == base[at + away] else 0
            start = at - away + 1
            is_around = start <= first and start < last <= start + 2 * away
            if alike >= away and is_around and first < start + 2 * away:
                block = base[start : start + away]
                if b"".join(block).strip():
                    return block
    return ()


def _as_many(block: Sequence[bytes], base: Sequence[bytes], ours: Sequence[bytes]) -> bool:
    """Whether a run has as many blocks as before: upstream took out at most a part of one."""
    inside = Counter(line for line in block if WORD.search(line))
    gone = {line: base.count(line) - ours.count(line) for line in inside}
    return sum(gone.values()) < inside.total() and all(
        0 <= gone[line] <= inside[line] for line in inside
    )


def _leaves(hunk: Hunk, base: Sequence[bytes], anchor: Sequence[bytes]) -> bool:
    """Whether an anchor holds a line that is indented less than the change."""
    depth = depth_of(base, hunk.first_change, (*hunk.removed, *hunk.added))
    return any(line.strip() and len(line) - len(line.lstrip()) < depth for line in anchor)
