"""Of those who changed a hunk's lines while it conflicted, who brought what it meets in the end.

What broke an entry first may be gone again, and another change have taken its place.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from lanewright.queue.cause.spans import Span, spans_of
from lanewright.queue.cause.zones import Alignment
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.store.git import Repository
from lanewright.store.objects import File, read_blobs

Did = tuple[Counter[bytes], Counter[bytes]]


def lasting(
    repository: Repository, on_base: OnBase, unit: Unit, at: Mapping[int, File | None]
) -> int:
    """The first step of which something lasts to the end.

    Args:
        repository: The store.
        on_base: The change that the unit is of.
        unit: It.
        at: What its file is after each step of those in which it conflicts, in order.
    """
    numbers = list(at)
    first, last = numbers[0], numbers[-1]
    if len(numbers) == 1:
        return first
    if unit.hunk is None:  # a binary is what the last of them made it
        return last
    end = _did(repository, on_base, unit, {last: at[last]})[last]
    if _lasts(_did(repository, on_base, unit, {first: at[first]})[first], end):
        return first
    between = _did(repository, on_base, unit, at)
    return next((number for number in numbers if _lasts(between[number], end)), last)


def _lasts(did: Did, end: Did) -> bool:
    """Whether some of the lines that came in are there in the end, or all that went are gone."""
    brought, removed = did
    return bool(brought & end[0]) or (bool(removed) and removed <= end[1])


def _did(
    repository: Repository, on_base: OnBase, unit: Unit, at: Mapping[int, File | None]
) -> dict[int, Did]:
    """Per step the lines at a hunk's place that its base lacks, and those that it alone has."""
    side, base = on_base.sides[unit.path], on_base.contents[unit.path]
    present = {number: file for number, file in at.items() if file}
    blobs = read_blobs(repository, [file.blob for file in present.values()])
    sides = {f"{n}": (side, file) for n, file in present.items() if side}
    spans = spans_of(repository, sides) if sides else {}
    return {
        number: _differing(
            unit, base, split_lines(blobs[file.blob]) if file else [], spans.get(f"{number}", ())
        )
        for number, file in at.items()
    }


def _differing(
    unit: Unit, base: Sequence[bytes], ours: Sequence[bytes], spans: Sequence[Span]
) -> Did:
    before, after = base, ours
    if unit.hunk and base and ours:
        zone = Alignment(spans).zone(unit.hunk.first_change, unit.hunk.last_change)
        before, after = base[slice(*zone.base)], ours[slice(*zone.ours)]
    return Counter(after) - Counter(before), Counter(before) - Counter(after)
