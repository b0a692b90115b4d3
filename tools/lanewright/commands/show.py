"""``lanewright show``: the hunks of an entry, or of a pull request before it is carried."""

import msgspec

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.edit.having import lanes_with
from lanewright.queue.edit.selection import index_of, read_part
from lanewright.queue.edit.unpinned import no_lock
from lanewright.queue.inputs import OverlayInput
from lanewright.queue.lock import Lock, LockedEntry, read_lock
from lanewright.queue.plan import plan
from lanewright.queue.pull.offered import NUMBER
from lanewright.queue.series import load_series
from lanewright.report.carried import carried_texts
from lanewright.report.fixes import emit_fixes
from lanewright.report.hunks import hunk_line
from lanewright.report.laid import folded
from lanewright.report.offer import emit_offer
from lanewright.report.outcome import in_one_line
from lanewright.terminal import emit, emit_json, quoted


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print what the lock says of each entry, or the text of chosen hunks; or what is on offer."""
    lane, chosen = _asked(project, arguments)
    project.series_file(lane)  # there must be such a lane before it can lack a lock
    lock = read_lock(project.lock_file(lane))
    name, _, rest = chosen.partition(":")
    if NUMBER.fullmatch(name) and not _is_locked(name, lock):
        emit_offer(project, places, lane, read_part(chosen), as_json=arguments.json)
        return ExitCode.CLEAN
    if lock is None:
        raise no_lock(project, lane)
    entries = [_narrowed(entry, lane, rest) for entry in lock.entries if name in {"", entry.name}]
    if not entries and name:
        raise _unknown(project, lane, name, lock)
    if arguments.json:
        emit_json(entries)
        return ExitCode.CLEAN
    for whole, entry in zip(
        (e for e in lock.entries if name in {"", e.name}), entries, strict=True
    ):
        emit(f"{entry.name} ({entry.source}): {in_one_line(whole)}")
        if entry.kind == "overlay":
            lines = entry.files if name else [folded(entry.files)]
            emit("\n".join(f"  {line}" for line in lines))
        elif name:
            emit(_texts(project, places, lane, whole, entry))
            emit_fixes(project, places, entry, in_full=bool(rest))
        else:
            emit("\n".join(f"  {hunk_line(hunk, hunk.outcome)}" for hunk in entry.hunks))
    return ExitCode.CLEAN


def _asked(project: Project, arguments: Arguments) -> tuple[str, str]:
    """Lane and entry; a single word that is no lane's name is an entry of the default lane.

    Raises:
        LanewrightError: It is one of another lane alone.
    """
    word, default = (arguments.lane or "").removeprefix("#"), project.upstream.default_lane
    if word and not arguments.entry and word not in project.lanes():
        lock, name = read_lock(project.lock_file(default)), word.partition(":")[0]
        known = {entry.name for entry in lock.entries} if lock else set()
        if name in known or name.isdecimal():
            return default, word
        having = lanes_with(project, name)
        if default in having:
            return default, word
        if having:
            raise LanewrightError(
                f"{name} is an entry of {' and '.join(having)}",
                hint=f"lanewright show {having[0]} {quoted(word)}",
            )
    return lane_of(project, arguments), (arguments.entry or "").removeprefix("#")


def _is_locked(name: str, lock: Lock | None) -> bool:
    return lock is not None and any(entry.name == name for entry in lock.entries)


def _unknown(project: Project, lane: str, name: str, lock: Lock) -> LanewrightError:
    """Why a lane shows nothing of this name, and what does."""
    known = ", ".join(entry.name for entry in lock.entries)
    if index_of(load_series(project, lane), name) is not None:
        return LanewrightError(
            f"lane {lane}: {name} is in its series, and not in its lock yet",
            hint=f"lanewright report {lane} tells each hunk of it",
        )
    having = lanes_with(project, name)
    return LanewrightError(
        f"lane {lane} has no entry {name!r} (it has: {known or 'none'})",
        hint=f"lanewright show {having[0]} {quoted(name)}" if having else f"lanewright list {lane}",
    )


def _narrowed(entry: LockedEntry, lane: str, chosen: str) -> LockedEntry:
    """An entry with only the chosen hunks or file.

    Raises:
        LanewrightError: Nothing of the entry is chosen.
    """
    path, _, wanted = chosen.partition(":")
    hunks = [h for h in entry.hunks if path in {"", h.path} and h.id.startswith(wanted)]
    files = [file for file in entry.files if path in {"", file} and not wanted]
    if not hunks and not files:
        raise LanewrightError(
            f"{entry.name} has no {'hunk' if entry.hunks else 'file'} {chosen!r}",
            hint=f"lanewright show {lane} {entry.name}",
        )
    fixes = [fix for fix in entry.fixes if path in {"", fix.path}]
    return msgspec.structs.replace(entry, hunks=hunks, files=files, fixes=fixes)


def _texts(
    project: Project, places: Places, lane: str, entry: LockedEntry, chosen: LockedEntry
) -> str:
    """Each chosen hunk under a line that names it."""
    given = next((i for i in plan(project, lane).inputs if i.name == entry.name), None)
    if given is None or isinstance(given, OverlayInput) or given.digest != entry.digest:
        raise LanewrightError(
            f"{entry.source} changed since the lock was written", hint=f"lanewright build {lane}"
        )
    texts = carried_texts(project, places, given, entry)
    lines: list[str] = []
    for hunk in chosen.hunks:
        lines += [hunk_line(hunk, hunk.outcome), *filter(None, [texts[hunk.id]])]
    return "\n".join(lines)
