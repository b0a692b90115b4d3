"""Parts of the report in words, the same in each of its forms."""

from collections.abc import Callable, Iterator

from lanewright.queue.lock import LockedFix
from lanewright.report.causes import named
from lanewright.report.model import Cell, EntryReport, FileReport, HunkReport, Report, TurnReport
from lanewright.report.outcome import counted

SHOWN = 12


def heading(report: Report) -> str:
    """The lane and what it stands on."""
    on = f"{report.distribution} {report.commit[:12]}"
    if report.upstream and report.upstream != report.commit:
        on += f", upstream's {report.upstream[:12]}"
    return f"lane {report.lane} on {report.pin} ({on}), {report.on}"


def label(entry: EntryReport) -> str:
    """What an entry is called."""
    return f"#{entry.number}" if entry.number else entry.name


def before(report: Report) -> tuple[str, list[str]]:
    """What became of each entry when it was tried last, and a title for all of that.

    The title is the day, where it is the same for all.
    """
    last = [entry.seen[-1] if entry.seen else None for entry in report.entries]
    days = {each.on for each in last if each}
    if len(days) == 1:
        return f"{min(days)}", [each.outcome if each else "" for each in last]
    return "before", [f"{each.outcome} ({each.on})" if each else "" for each in last]


def now(entry: EntryReport) -> str:
    """What became of it, and whether the lane carries it at all."""
    return entry.verdict + ("" if entry.standing == "carried" else " (watched)")


def head(entry: EntryReport) -> str:
    """The head that is told of, and its day."""
    if entry.head is None:
        return ""
    day = f", {entry.head_date}" if entry.head_date else ""
    newer = f"; upstream is at {entry.newest[:12]}" if entry.newest else ""
    return f"{entry.head[:12]}{day}{newer}"


def ending(report: Report) -> str:
    """The tree that it comes to."""
    if report.fault:
        return f"no tree: {report.fault}"
    return f"tree {report.tree}" + ("" if report.complete else " without the entries that conflict")


def turned(entry: EntryReport) -> Iterator[str]:
    """Where it stopped merging, and merged again, in order."""
    for number, turn in enumerate(entry.turns):
        yield _turn(turn, again=number > 1, tried=entry.tried if number == 0 else 0)


def _turn(turn: TurnReport, *, again: bool, tried: int) -> str:
    commit = turn.commit
    where = f"upstream's {named(commit)}" if commit else "a change that no commit of upstream tells"
    of = f"; {counted(tried, 'commit')} of upstream's tried" if tried else ""
    if turn.lacking:
        how = "merges again" if turn.merges else f"stops {'again ' if again else ''}merging"
        return f"{how} without {where}, which the pin lacks{of}"
    if turn.merges:
        return f"merges again from {where} on{of}"
    return f"stops merging {'again ' if again else ''}at {where}{of}"


def what_of(hunk: HunkReport) -> Iterator[str]:
    """Why a hunk is what it is."""
    if hunk.refused:
        yield f"refused: {hunk.refused}"
    if hunk.cause:
        yield hunk.cause.told
    if hunk.detail and (hunk.cause is None or hunk.detail != hunk.cause.told):
        yield hunk.detail


def place_of(
    fix: LockedFix, entry: EntryReport, quoting: Callable[[str], str] = lambda file: file
) -> str:
    """Where a fix lies, or where it will."""
    file = quoting(fix.file)
    return f"would be written to {file}" if fix.file in entry.unwritten else file


def claimed(report: Report, entry: EntryReport) -> Iterator[str]:
    """What an entry takes for itself, and who else does."""
    clashes = {clash.claim: clash.entries for clash in report.clashes}
    for claim in entry.claims:
        others = [name for name in clashes.get(claim, ()) if name != entry.name]
        also = f", and so does {' and '.join(others)}: they exclude each other" if others else ""
        yield f"claims {claim}{also}"


def three_sides(hunk: HunkReport, lane: str, entry: str) -> Iterator[tuple[str, list[str]]]:
    """Each side of a conflict: what it is called, and its lines, of which many are cut short."""
    if hunk.sides is None:
        return
    sides = (
        ("base", hunk.sides.base),
        (lane, hunk.sides.ours),
        (entry, hunk.sides.theirs),
    )
    for name, side in sides:
        if side.first == 0:
            yield f"{name}: no such file", []
            continue
        where = f", line {side.first}" if name != entry else ""
        lines = side.lines[:SHOWN]
        if len(side.lines) > SHOWN:
            lines.append(f"... {len(side.lines) - SHOWN} more lines")
        if side.unended:
            lines.append("\\ no newline at the end of the file")
        yield f"{name}{where}" + ("" if lines else ": nothing"), lines


def is_quiet(file: FileReport) -> bool:
    """Whether nothing is to be said of a file's hunks but how they came in."""
    return all(hunk.outcome in {"clean", "not selected"} for hunk in file.hunks)


def in_common(cell: Cell) -> Iterator[str]:
    """What two entries have in common, a line for each."""
    for claim in cell.claims:
        yield f"both claim {claim}, so they exclude each other"
    for shared in cell.files:
        if not shared.meetings:
            yield f"{shared.path}: apart"
            continue
        pairs = ", ".join(
            " and ".join(filter(None, pair)) for pair in dict.fromkeys(shared.meetings[:SHOWN])
        )
        more = len(shared.meetings) - SHOWN
        yield f"{shared.path}: the same lines ({pairs}{f', {more} more' if more > 0 else ''})"
