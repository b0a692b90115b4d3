"""Which of several equal places a hunk was made for: told by the nearest lines that are unique."""

from collections.abc import Sequence

from lanewright.queue.diff import Hunk
from lanewright.queue.outline import depth_of

LONGEST = 200


def fits_several(hunk: Hunk, base: Sequence[bytes], ours: Sequence[bytes]) -> bool:
    """Whether what a hunk changes, with the line above or below, stands in more than one place."""
    first, last = hunk.first_change, hunk.last_change
    cores = (base[max(first - 1, 0) : last], base[first : last + 1])
    return any(core and _count(core, text) > 1 for core in cores for text in (base, ours))


def is_anchored(
    hunk: Hunk, base: Sequence[bytes], ours: Sequence[bytes], result: Sequence[bytes]
) -> bool:
    """Whether a merge put a hunk next to the lines that it stood next to.

    The lines directly above the change are extended upwards until they are unique on the base,
    and likewise downwards; where ``ours`` has such an anchor once, the change must touch it. An
    anchor that stays inside the block of the change outweighs one that reaches into the next
    block, for upstream may have put another block between.

    Args:
        hunk: The hunk.
        base: Lines of the file that it was made on.
        ours: Lines of the file that it was merged onto.
        result: Lines of the merged file.
    """
    answers = (_above(hunk, base, ours, result), _below(hunk, base, ours, result))
    inside = [touches for touches, is_inside in filter(None, answers) if is_inside]
    outside = [touches for touches, is_inside in filter(None, answers) if not is_inside]
    return all(inside or outside) and bool(inside or outside)


Answer = tuple[bool, bool]


def _above(
    hunk: Hunk, base: Sequence[bytes], ours: Sequence[bytes], result: Sequence[bytes]
) -> Answer | None:
    """Whether the change touches its anchor above, and whether that is inside its block."""
    first = hunk.first_change
    sizes = range(1, min(first, LONGEST) + 1)
    anchor = next((a for n in sizes if _count(a := base[first - n : first], base) == 1), None)
    if anchor is None or _count(anchor, ours) != 1:
        return None
    end = _find(anchor, ours) + len(anchor)
    lead = first - hunk.old_start
    touches = list(result[end : end + 1]) == list(hunk.new[lead : lead + 1])
    # Its first line may be the one that opens the block.
    return touches, not _leaves(hunk, base, anchor[1:])


def _below(
    hunk: Hunk, base: Sequence[bytes], ours: Sequence[bytes], result: Sequence[bytes]
) -> Answer | None:
    """Whether the change touches its anchor below, and whether that is inside its block."""
    last = hunk.last_change
    sizes = range(1, min(len(base) - last, LONGEST) + 1)
    anchor = next((a for n in sizes if _count(a := base[last : last + n], base) == 1), None)
    if anchor is None or _count(anchor, ours) != 1:
        return None
    # Nothing below the change moved, so the distance from the end is the same.
    start = _find(anchor, ours) + len(result) - len(ours)
    end = len(hunk.new) - (hunk.old_start + len(hunk.old) - last)
    touches = list(result[max(start - 1, 0) : max(start, 0)]) == list(
        hunk.new[max(end - 1, 0) : end]
    )
    return touches, not _leaves(hunk, base, anchor)


def _leaves(hunk: Hunk, base: Sequence[bytes], anchor: Sequence[bytes]) -> bool:
    """Whether an anchor holds a line that is indented less than the change."""
    depth = depth_of(base, hunk.first_change, (*hunk.removed, *hunk.added))
    return any(line.strip() and len(line) - len(line.lstrip()) < depth for line in anchor)


def _count(block: Sequence[bytes], text: Sequence[bytes]) -> int:
    return _joined(text).count(_joined(block))


def _find(block: Sequence[bytes], text: Sequence[bytes]) -> int:
    """Line number at which a block begins; it must be there."""
    whole = _joined(text)
    return whole.count(b"\n", 0, whole.index(_joined(block)))


def _joined(lines: Sequence[bytes]) -> bytes:
    return b"\n" + b"".join(lines)
