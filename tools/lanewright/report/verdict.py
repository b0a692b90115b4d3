"""What became of an entry on a pin, as a person would say it."""

from collections.abc import Sequence

from lanewright.queue.lock import HunkState, LockedEntry
from lanewright.report.outcome import counted


def in_words(entry: LockedEntry, refused: int = 0) -> str:
    """E.g. ``new package clean; 3 files need hand fixes``, ``clean``, ``merged`` or ``landed``.

    Args:
        entry: What became of it.
        refused: How much of it is kept out by rule.
    """
    if refused:
        return "; ".join([f"{refused} of it refused by rule", *_open(_taken(entry))])
    if entry.kind == "overlay":
        return f"{counted(len(entry.files), 'file')} laid in"
    taken = _taken(entry)
    kinds = {hunk.outcome for hunk in taken}
    if taken and kinds <= {"landed", "landed changed"} and not any(hunk.open for hunk in taken):
        return "landed"
    parts = [*_open(taken), *_settled(taken)]
    if not parts:
        merged = any(hunk.outcome == "merged" for hunk in taken)
        return _part_of("merged" if merged else "clean", entry, taken)
    return "; ".join(_new_package(taken) + parts)


def _taken(entry: LockedEntry) -> list[HunkState]:
    return [hunk for hunk in entry.hunks if hunk.outcome != "not selected"]


def _part_of(word: str, entry: LockedEntry, taken: Sequence[HunkState]) -> str:
    if len(taken) == len(entry.hunks):
        return word
    return f"{word} ({len(taken)} of {counted(len(entry.hunks), 'hunk')} taken)"


def _open(taken: Sequence[HunkState]) -> list[str]:
    missing = [h for h in taken if h.open and h.outcome == "file missing"]
    conflicts = [h for h in taken if h.open and h.outcome == "conflict"]
    changed = [h for h in taken if h.open and h.outcome == "landed changed"]
    parts = []
    if missing:
        absent = len({hunk.path for hunk in missing})
        where = "a file that is not there" if absent == 1 else f"{absent} files that are not there"
        also = [f"{counted(len(conflicts), 'conflicting hunk')}"] if conflicts else []
        parts.append(" + ".join([*also, f"{counted(len(missing), 'hunk')} for {where}"]))
    elif conflicts:
        count = len({hunk.path for hunk in conflicts})
        parts.append(
            f"{counted(count, 'file')} {'needs a hand fix' if count == 1 else 'need hand fixes'}"
        )
    if changed:
        parts.append(f"{counted(len(changed), 'hunk')} landed with edits, as it seems")
    return parts


def _settled(taken: Sequence[HunkState]) -> list[str]:
    parts = []
    for outcome, word in (("fixed", "by hand fix"), ("fix stale", "by a fix to look at again")):
        count = len({hunk.path for hunk in taken if hunk.outcome == outcome})
        if count:
            parts.append(f"{counted(count, 'file')} {word}")
    landed = sum(hunk.outcome in {"landed", "landed changed"} and not hunk.open for hunk in taken)
    if landed:
        parts.append(f"{counted(landed, 'hunk')} landed")
    absent = sum(hunk.outcome == "file missing" and not hunk.open for hunk in taken)
    if absent:
        parts.append(f"{counted(absent, 'hunk')} left out, for a file that is not there")
    return parts


def _new_package(taken: Sequence[HunkState]) -> list[str]:
    """Whether it brings a package, and that is carried whole."""
    roots = {
        hunk.path.rpartition("/")[0]
        for hunk in taken
        if hunk.path.endswith("/__init__.py") and hunk.lines in {"1+0", "file"}
    }
    inside = [h for h in taken if any(h.path.startswith(f"{root}/") for root in roots)]
    clean = bool(inside) and all(hunk.outcome in {"clean", "merged"} for hunk in inside)
    return ["new package clean"] if clean else []
