"""``lanewright list``: the lanes, or what one of them carries."""

import msgspec

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit.having import lanes_with
from lanewright.queue.edit.selection import HUNK_ID, index_of
from lanewright.queue.lock import read_lock
from lanewright.queue.move.held import held_in
from lanewright.queue.series import EntrySpec, Series, load_series, name_of
from lanewright.report.outcome import counted
from lanewright.terminal import emit, emit_json, quoted


def run(project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Print every lane, or the entries of one, from the series alone."""
    lane, entry = _asked(project, arguments)
    lanes = [lane] if lane else project.lanes()
    found = {lane: load_series(project, lane) for lane in lanes}
    if lane and entry:
        found[lane] = _narrowed(found[lane], lane, entry)
    if arguments.json:
        emit_json(found)
        return ExitCode.CLEAN
    marks = {name: _marks(project, name) for name in found}
    for name, series in found.items():
        emit(f"{name}  {series.pin}  {series.title}")
        for each in series.entry:
            emit(f"  {_line(each)}{marks[name].get(name_of(each), '')}")
            if entry:
                emit("".join(f"    {selected}\n" for selected in each.select or ["all of it"]))
    return ExitCode.CLEAN


def _marks(project: Project, lane: str) -> dict[str, str]:
    """What is said of the entries that need a person."""
    held = dict.fromkeys(held_in(project, lane), "  (in conflict: not carried yet)")
    try:
        lock = read_lock(project.lock_file(lane))
    except LanewrightError:  # told by every command that needs it
        return held
    waiting = [e.name for e in lock.entries if any(h.open for h in e.hunks)] if lock else []
    return held | dict.fromkeys(waiting, "  (left out: it needs a person)")


def _asked(project: Project, arguments: Arguments) -> tuple[str | None, str | None]:
    """Lane and entry; a single word that is no lane's name is an entry of the default lane.

    Raises:
        LanewrightError: It is one of another lane alone.
    """
    word, default = arguments.lane, project.upstream.default_lane
    if not word or arguments.entry or word in project.lanes():
        return word, arguments.entry
    having = lanes_with(project, word)
    if having and default not in having:
        raise LanewrightError(
            f"{word} is an entry of {' and '.join(having)}",
            hint=f"lanewright list {having[0]} {quoted(word)}",
        )
    return (default, word) if having else (word, None)


def _narrowed(series: Series, lane: str, entry: str) -> Series:
    index = index_of(series, entry)
    if index is None:
        known = ", ".join(map(name_of, series.entry)) or "none"
        raise LanewrightError(
            f"lane {lane} has no entry {entry!r} (it has: {known})", hint=f"lanewright list {lane}"
        )
    return msgspec.structs.replace(series, entry=[series.entry[index]])


def _line(entry: EntrySpec) -> str:
    kind = "overlay" if entry.overlay else "patch"
    if entry.pull is not None:
        kind = f"#{entry.pull} {f'at {entry.head[:12]}' if entry.head else 'not pinned yet'}"
    return "  ".join(filter(None, [name_of(entry), kind, _taken(entry.select or [])]))


def _taken(select: list[str]) -> str:
    """E.g. ``2 files, 12 hunks in 3 files``; a single choice in full."""
    if len(select) <= 1:
        return "".join(select)
    cut = [each.rpartition(":") for each in select]
    hunks = [path for path, _, hunk in cut if path and HUNK_ID.fullmatch(hunk)]
    told = (
        [counted(len(hunks), "hunk") + f" in {counted(len(set(hunks)), 'file')}"] if hunks else []
    )
    whole = len(select) - len(hunks)
    return ", ".join([counted(whole, "file"), *told] if whole else told)
