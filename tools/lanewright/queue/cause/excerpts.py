"""The lines of a conflict on its three sides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanewright.queue.cause.spans import spans_of
from lanewright.queue.cause.zones import Alignment
from lanewright.queue.fix.sides import Sides
from lanewright.queue.merge.subset import split_lines
from lanewright.queue.merge.units import OnBase, Unit
from lanewright.store.git import Repository
from lanewright.store.objects import read_blobs


@dataclass(frozen=True)
class Lines:
    """Lines of a file from ``start`` on, 0-based; None where there is no such file."""

    start: int | None
    lines: Sequence[bytes]


NOTHING = Lines(None, ())


@dataclass(frozen=True)
class Excerpts:
    """What a hunk is about: on its base, where it is merged onto, and with it in place."""

    base: Lines
    ours: Lines
    theirs: Lines


def excerpts(
    repository: Repository, on_base: OnBase, units: Sequence[Unit], sides: Mapping[str, Sides]
) -> dict[str, Excerpts]:
    """By id, the three sides of those hunks that have lines.

    Args:
        repository: The store.
        on_base: The change.
        units: Hunks of files that need a person.
        sides: Of these files.
    """
    both = {path: (each.base, each.ours) for path, each in sides.items() if each.base and each.ours}
    aligned = {path: Alignment(spans) for path, spans in spans_of(repository, both).items()}
    here = {path: each.ours for path, each in sides.items() if each.ours}
    blobs = read_blobs(repository, [ours.blob for ours in here.values()])
    texts = {path: split_lines(blobs[ours.blob]) for path, ours in here.items()}
    found = {}
    for unit in units:
        hunk = unit.hunk
        if hunk is None:
            continue
        base = on_base.contents[unit.path]
        first, last = hunk.first_change, hunk.last_change
        low, high, ours = first, last, NOTHING
        if unit.path in aligned:
            zone = aligned[unit.path].zone(first, last)
            low, high = zone.base
            ours = Lines(zone.ours[0], texts[unit.path][zone.ours[0] : zone.ours[1]])
        elif unit.path in texts:  # both brought the file
            ours = Lines(0, texts[unit.path])
        theirs = [*base[low:first], *hunk.replacement, *base[last:high]]
        before = Lines(low, base[low:high]) if on_base.sides[unit.path] else NOTHING
        found[unit.id] = Excerpts(before, ours, Lines(low, theirs))
    return found
