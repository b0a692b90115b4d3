"""An entry's outcome in one line, as a person would say it."""

from collections import Counter

from lanewright.queue.lock import LockedEntry, Outcome

ORDER: tuple[Outcome, ...] = (
    "conflict",
    "file missing",
    "landed changed",
    "fix stale",
    "fixed",
    "merged",
    "clean",
    "landed",
    "not selected",
)


def in_one_line(entry: LockedEntry) -> str:
    """E.g. ``5 hunks in 2 files: 3 clean, 2 merged`` or ``4 files laid in``."""
    if entry.kind == "overlay":
        return f"{counted(len(entry.files), 'file')} laid in"
    outcomes = Counter(hunk.outcome for hunk in entry.hunks)
    paths = {hunk.path for hunk in entry.hunks}
    told = ", ".join(f"{outcomes[name]} {name}" for name in ORDER if outcomes[name])
    return f"{counted(len(entry.hunks), 'hunk')} in {counted(len(paths), 'file')}: {told}"


def counted(count: int, noun: str) -> str:
    """E.g. ``1 file``, ``2 files``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
