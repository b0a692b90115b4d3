"""The report as text for a terminal."""

from collections.abc import Iterator, Mapping

from lanewright.queue.apply import Applied
from lanewright.queue.carried import Carried
from lanewright.queue.lock import HunkState, LockedEntry
from lanewright.report.outcome import in_one_line
from lanewright.report.verdict import in_words
from lanewright.terminal import printable, quoted


def report_text(applied: Applied, titles: Mapping[int, str], option: str) -> str:
    """A lane's entries in one line each, then their files and hunks, and what became of each.

    Args:
        applied: The lane.
        titles: What GitHub calls pull requests, by number, where it is known.
        option: What commands in hints need to mean this lane.
    """
    lock = applied.lock
    lines = [f"lane {lock.lane} on {lock.pin.ref} ({lock.pin.distribution} {lock.pin.commit[:12]})"]
    names = [_name(entry, titles) for entry in lock.entries]
    width = max(map(len, names), default=0)
    lines += [
        f"  {name:{width}}  {in_words(entry)}"
        for name, entry in zip(names, lock.entries, strict=True)
    ]
    for carried in applied.carried:
        lines += ["", *_entry(carried, option)]
    without = " without the entries that conflict" if applied.conflicts else ""
    return "\n".join([*lines, "", f"tree {lock.tree}{without}"])


def _name(entry: LockedEntry, titles: Mapping[int, str]) -> str:
    title = titles.get(entry.pull.number, "") if entry.pull else ""
    name = f"#{entry.pull.number}" if entry.pull else entry.name
    return printable(f"{name} {title}".strip())


def _entry(carried: Carried, option: str) -> Iterator[str]:
    entry = carried.entry
    yield f"{entry.name} ({entry.source}): {in_one_line(entry)}"
    path = None
    for hunk in entry.hunks:
        if hunk.path != path:
            path = hunk.path
            yield f"  {printable(path)}"
        yield from _hunk(hunk)
    yield from _fixes(carried, option)
    if entry.pull and entry.pull.outside:
        yield f"  {entry.pull.outside} files outside vllm/ are no part of a lane"
    if carried.conflicts:
        yield "  not carried until a person settles its conflicts"
        yield f"  next: lanewright resolve {entry.name}{option}"
    for hunk in entry.hunks:
        if hunk.open and hunk.outcome == "landed changed":
            yield f"  or: lanewright drop {quoted(f'{entry.name}:{hunk.path}:{hunk.id}')} --landed{option}"


def _fixes(carried: Carried, option: str) -> Iterator[str]:
    name = carried.entry.name
    for fix in carried.entry.fixes:
        if fix.state != "unneeded":
            yield f"  fix {fix.state}: {printable(fix.file)}"
        if fix.state == "stale":
            yield f"  next: lanewright resolve {name}{option}"
    for file in carried.unneeded:
        yield f"  fix not needed here: {printable(file)}"
    for fix in carried.entry.fixes:
        if fix.state == "unneeded":
            what = f"lanewright drop {quoted(f'{name}:{fix.path}')}{option}"
            yield f"  {printable(fix.path)} has what it makes: {what}"


def _hunk(hunk: HunkState) -> Iterator[str]:
    where = f" in {hunk.symbol}" if hunk.symbol else ""
    yield f"    {hunk.id}  {hunk.outcome}{where}"
    if hunk.cause:
        yield f"                {printable(hunk.cause)}"
    for line in hunk.difference.splitlines():
        yield f"                {printable(line)}"
