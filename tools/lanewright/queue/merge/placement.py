"""Whether git merged a hunk into the place that it was made for."""

from collections.abc import Iterable, Sequence

from lanewright.queue.merge.anchors import fits_several, is_anchored
from lanewright.queue.merge.outline import shown
from lanewright.queue.merge.regions import Region
from lanewright.queue.merge.text import Text
from lanewright.queue.patch.diff import Hunk

Lines = Sequence[bytes]


def misplaced(
    hunk: Hunk,
    texts: tuple[Text, Text],
    result: Lines,
    wanted: set[Region],
    got: set[Region],
) -> str:
    """Why a merged hunk may not be where it belongs; empty where it is.

    Args:
        hunk: The hunk.
        texts: Its base and the file it was merged onto.
        result: Lines of the merged file.
        wanted: Places of its changes on its own base.
        got: Places of its changes in the merged file.
    """
    base, ours = texts
    definitions = {region.symbol for region in wanted}
    known = {region.openings for region in wanted}
    for region in got:
        renamed = region.openings in known or (
            region.symbol in definitions and _only_reworded(region, known, texts)
        )
        if not renamed:
            return f"git would put it into {shown(region.openings)} instead of {_either(known)}"
    if fits_several(hunk, base, ours) and not is_anchored(hunk, base, ours, result):
        return "its lines fit several places, and those around it do not tell which"
    return ""


def _only_reworded(region: Region, known: set[tuple[str, ...]], texts: tuple[Text, Text]) -> bool:
    """Whether upstream changed the text of an opening: the old is gone, and the new was not."""
    base, ours = (text.outline for text in texts)
    return known.isdisjoint(ours.everywhere) and region.openings not in base.everywhere


def _either(places: Iterable[tuple[str, ...]]) -> str:
    return " or ".join(sorted(shown(openings) for openings in places))
