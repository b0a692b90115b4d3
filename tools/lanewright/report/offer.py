"""A pull request that no lane carries yet, with the names that ``add`` takes its parts by."""

from collections.abc import Sequence

import msgspec

from lanewright.invisible import visible
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit.selection import Part, units_of
from lanewright.queue.guard.offered_guards import refused_of_offer
from lanewright.queue.guard.rules import Finding
from lanewright.queue.lock import LockedPull
from lanewright.queue.merge.units import Unit
from lanewright.queue.pull.offered import Offered, offered
from lanewright.queue.pull.pulls import pull_text
from lanewright.queue.series import load_series
from lanewright.report.hunks import hunk_line, hunk_texts, range_of
from lanewright.report.outcome import counted
from lanewright.terminal import emit, emit_json, quoted, say


def emit_offer(project: Project, places: Places, lane: str, part: Part, *, as_json: bool) -> None:
    """Print each hunk of a pull request, or the text of chosen ones; the project stays as it is.

    Raises:
        LanewrightError: It cannot be had, or has no such part.
    """
    series = load_series(project, lane)
    found = offered(project, places, series, int(part.entry))
    refused = refused_of_offer(project, places, lane, series, found)
    all_units = found.on_base.units
    units = units_of(found.on_base, part, f"lane {lane}") if part.path else list(all_units)
    for line in found.told:
        say(line)
    if as_json:
        emit_json([_data(found, units, refused)])
        return
    size = f"{counted(len(all_units), 'hunk')} in {counted(len(found.on_base.sides), 'file')}"
    state = "in the series, and not in the lock yet" if found.in_series else "not carried"
    emit(f"#{found.number} ({found.head[:12]} on {found.base[:12]}): {size}; {state}")
    if part.path:
        emit(_texts(project, places, found, units, refused))
    else:
        emit("\n".join(f"  {hunk_line(unit, _what(unit, refused))}" for unit in units))
    option = project.option(lane)
    kept_out = {each.path for each in refused}
    path = next((u.path for u in units if u.path not in kept_out), units[0].path)
    of_it = quoted(f"{found.number}:{path}")
    if found.in_series:
        say(f"  next: lanewright report {lane}, or lanewright drop {of_it}{option}")
    else:
        say(
            f"  next: lanewright add {found.number}{option}, or a part: lanewright add {of_it}{option}"
        )


def _what(unit: Unit, refused: Sequence[Finding]) -> str:
    """Where a hunk stands, and the rules that keep it out."""
    why = "; ".join(f"{each.rule}: {each.why}" for each in refused if each.hunk == unit.id)
    return f"{range_of(unit)}{f'  refused: {why}' if why else ''}"


def _data(found: Offered, units: list[Unit], refused: Sequence[Finding]) -> dict[str, object]:
    """As the lock will have it, without what comes of carrying it, and with what is refused."""
    pull = LockedPull(found.number, found.head, found.base, found.outside)
    names, ids = ("id", "path", "symbol", "lines"), [unit.id for unit in units]
    return {
        "name": str(found.number),
        "kind": "pull",
        "source": f"#{found.number}",
        "pull": msgspec.to_builtins(pull),
        "hunks": [{name: getattr(unit, name) for name in names} for unit in units],
        "refused": [msgspec.to_builtins(each) for each in refused if each.hunk in {"", *ids}],
    }


def _texts(
    project: Project, places: Places, found: Offered, units: list[Unit], refused: Sequence[Finding]
) -> str:
    diff = pull_text(project, places, found.base, found.head)
    all_units = found.on_base.units
    lines: list[str] = []
    for unit, text in zip(all_units, hunk_texts(diff, f"#{found.number}", all_units), strict=True):
        if unit in units:
            lines += [hunk_line(unit, _what(unit, refused)), *filter(None, [visible(text)])]
    return "\n".join(lines)
