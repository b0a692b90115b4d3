"""What the report says of one entry."""

from collections.abc import Iterator, Mapping

from lanewright.project import Project
from lanewright.queue.carried import Carried
from lanewright.queue.cause.excerpts import Excerpts, Lines, excerpts
from lanewright.queue.cause.whys import Explained
from lanewright.queue.fix.sides import Sides
from lanewright.queue.lock import HunkState
from lanewright.queue.move.stopped import resolve_command
from lanewright.report.causes import cause_of, commit_report
from lanewright.report.model import Excerpt, FileReport, HunkReport, ThreeSides, TurnReport
from lanewright.store.git import Repository
from lanewright.terminal import quoted


def files_of(
    repository: Repository, carried: Carried, explained: Explained, page: str
) -> list[FileReport]:
    """An entry's files and hunks, each with its cause and, where it needs a person, its sides.

    Args:
        repository: The store.
        carried: What became of the entry.
        explained: Its causes.
        page: Address of upstream's pages, or empty.
    """
    sides = {each.path: each.sides for each in carried.conflicts}
    shown = _excerpts(repository, carried, sides)
    rules = {each.hunk: f"{each.rule}: {each.why}" for each in carried.refused}
    by_path: dict[str, list[HunkState]] = {}
    for hunk in carried.entry.hunks:
        by_path.setdefault(hunk.path, []).append(hunk)
    return [
        FileReport(
            path,
            [_hunk(hunk, explained, shown.get(hunk.id), page, rules) for hunk in hunks],
            sides[path].ids if path in sides else None,
        )
        for path, hunks in by_path.items()
    ]


def turns_of(explained: Explained, page: str) -> list[TurnReport]:
    """Where the entry stopped merging, and merged again."""
    return [
        TurnReport(
            turn.merges,
            commit_report(turn.step.made, page) if turn.step.made else None,
            turn.step.undone,
        )
        for turn in explained.turned
    ]


def next_of(project: Project, lane: str, pin: str, carried: Carried) -> Iterator[str]:
    """What to type next about an entry of the lane, or instead.

    Args:
        project: The user's project.
        lane: The lane.
        pin: What it is tried on, which need not be what its series says.
        carried: What became of the entry.
    """
    name, option = carried.entry.name, project.option(lane)
    stale = any(fix.state == "stale" for fix in carried.entry.fixes)
    if carried.conflicts or stale:
        yield resolve_command(project, lane, quoted(name), pin)
    for hunk in carried.entry.hunks:
        part = quoted(f"{name}:{hunk.path}:{hunk.id}")
        if hunk.open and hunk.outcome == "landed changed":
            yield f"lanewright drop {part} --landed{option}"
        elif hunk.open and hunk.outcome == "file missing":
            yield f"lanewright drop {part}{option}"
    for fix in carried.entry.fixes:
        if fix.state == "unneeded":
            yield f"lanewright drop {quoted(f'{name}:{fix.path}')}{option}"
    taken = [hunk for hunk in carried.entry.hunks if hunk.outcome != "not selected"]
    landed = {"landed", "landed changed"}
    if taken and all(hunk.outcome in landed and not hunk.open for hunk in taken):
        yield f"lanewright drop {quoted(name)}{option}"


def _hunk(
    hunk: HunkState,
    explained: Explained,
    shown: Excerpts | None,
    page: str,
    rules: Mapping[str, str],
) -> HunkReport:
    why = explained.units.get(hunk.id)
    cause = cause_of(hunk, why, page) if why else None
    told_better = cause is not None and bool(cause.commit or cause.entries)
    return HunkReport(
        id=hunk.id,
        symbol=hunk.symbol,
        lines=hunk.lines,
        outcome=hunk.outcome,
        open=hunk.open,
        cause=cause,
        detail=_more(hunk) if told_better else ("" if cause else hunk.cause),
        difference=hunk.difference,
        refused=rules.get(hunk.id, ""),
        sides=_three(shown) if shown and hunk.open else None,
    )


def _more(hunk: HunkState) -> str:
    """What the lock says of a hunk, but for who changed its file at all."""
    return hunk.cause.partition(f"{hunk.path} was ")[0].removesuffix("; ")


def _excerpts(
    repository: Repository, carried: Carried, sides: dict[str, Sides]
) -> dict[str, Excerpts]:
    if carried.chosen is None or not sides:
        return {}
    waiting = {hunk.id for hunk in carried.entry.hunks if hunk.open}
    on_base = carried.chosen.on_base
    units = [unit for unit in on_base.units if unit.id in waiting and unit.path in sides]
    return excerpts(repository, on_base, units, sides)


def _three(shown: Excerpts) -> ThreeSides:
    sides = (shown.base, shown.ours, shown.theirs)
    lines = [line for side in sides for line in side.lines]
    returns = {line.endswith(b"\r\n") for line in lines if line.endswith(b"\n")}
    unended = [bool(side.lines) and not side.lines[-1].endswith(b"\n") for side in sides]
    told = (
        _excerpt(side, alike=len(returns) <= 1, unended=no_end and not all(unended))
        for side, no_end in zip(sides, unended, strict=True)
    )
    return ThreeSides(*told)


def _excerpt(side: Lines, *, alike: bool, unended: bool) -> Excerpt:
    """One side; where the sides end their lines in different ways, the ways are told."""
    first = 0 if side.start is None else side.start + 1
    end = b"\r\n" if alike else b"\n"
    lines = (line.removesuffix(b"\n").removesuffix(end[:-1]) for line in side.lines)
    return Excerpt(first, [line.decode("utf-8", "replace") for line in lines], unended)
