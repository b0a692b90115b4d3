"""The report as text for a terminal."""

from collections.abc import Iterable

from lanewright.queue.lock import Lock, LockedEntry
from lanewright.report.outcome import in_one_line
from lanewright.terminal import printable


def report_text(lock: Lock, conflicting: Iterable[str]) -> str:
    """A lane's entries, their files and hunks, and what became of each."""
    waiting = set(conflicting)
    lines = [f"lane {lock.lane} on {lock.pin.ref} ({lock.pin.distribution} {lock.pin.commit[:12]})"]
    for entry in lock.entries:
        lines += ["", f"{entry.name} ({entry.source}): {in_one_line(entry)}"]
        lines += _hunks(entry)
        if entry.name in waiting:
            lines.append("  not carried until its conflicts are settled: mend the patch for this")
            lines.append('  pin (`patch = {">=X" = ..., "Y" = ...}` in the series)')
    lines += ["", f"tree {lock.tree}" + (" without the conflicting entries" if waiting else "")]
    return "\n".join(lines)


def _hunks(entry: LockedEntry) -> list[str]:
    lines: list[str] = []
    path = None
    for hunk in entry.hunks:
        if hunk.path != path:
            path = hunk.path
            lines.append(f"  {printable(path)}")
        where = f" in {hunk.symbol}" if hunk.symbol else ""
        lines.append(f"    {hunk.id}  {hunk.outcome}{where}")
        if hunk.cause:
            lines.append(f"                {printable(hunk.cause)}")
    return lines
