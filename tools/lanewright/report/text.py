"""The report for a terminal."""

import io
from collections.abc import Iterator

from lanewright.invisible import visible
from lanewright.report.grid import grid
from lanewright.report.laid import folded
from lanewright.report.model import EntryReport, FileReport, HunkReport, Report
from lanewright.report.shown import cut, in_a_line
from lanewright.report.words import (
    before,
    claimed,
    ending,
    head,
    heading,
    in_common,
    label,
    now,
    place_of,
    three_sides,
    turned,
    what_of,
)
from lanewright.terminal import printable

INDENT = " " * 16
NARROW = 40  # in less, a table of this many columns has room for none of them


def report_text(report: Report, *, width: int) -> str:
    """A lane's entries as a table, then each with its files and hunks, then what they share.

    Args:
        report: What to tell.
        width: Columns of the terminal.
    """
    lines = [heading(report), "", *_table(report, width), ""]
    for entry in report.entries:
        lines += [*map(in_a_line, _entry(entry, report)), ""]
    if report.matrix:
        lines += ["what entries have in common", *grid(report)]
        for cell in report.matrix:
            lines.append(f"  {cell.one} and {cell.other}")
            lines += [f"    {in_a_line(line)}" for line in in_common(cell)]
        lines.append("")
    return printable("\n".join([*lines, ending(report)]))


def _table(report: Report, width: int) -> list[str]:
    from rich import box  # noqa: PLC0415 - 100 ms that other commands need not pay
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=box.SIMPLE, padding=(0, 1), pad_edge=False)
    title, past = before(report)
    with_past, with_worth = any(past), any(entry.worth for entry in report.entries)
    names = ["entry", "what it is", *([title] if with_past else []), f"now, {report.on}"]
    for name in [*names, *(["worth it"] if with_worth else []), "head"]:
        table.add_column(name, overflow="fold")
    for entry, was in zip(report.entries, past, strict=True):
        cells = [label(entry), entry.title, *([was] if with_past else [])]
        cells += [now(entry), *([entry.worth] if with_worth else [])]
        table.add_row(*(Text(visible(cell)) for cell in [*cells, head(entry)]))
    out = io.StringIO()
    plain = Console(
        file=out,
        width=max(width, NARROW),
        force_terminal=False,
        no_color=True,
        highlight=False,
        emoji=False,
    )
    plain.print(table)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


def _entry(entry: EntryReport, report: Report) -> Iterator[str]:
    source = f" ({entry.source})" if entry.source != label(entry) else ""
    watched = "watched, not carried: " if entry.standing == "watched" else ""
    yield f"{label(entry)}{source}: {watched}{entry.counts or entry.verdict}"
    for line in turned(entry):
        yield f"  {line}"
    yield from (f"  {line}" for note in entry.notes for line in note.split("\n"))
    for file in entry.files:
        yield from _file(file, report.lane, label(entry))
    if entry.laid:
        yield f"  {folded(entry.laid)}"
    for fix in entry.fixes:
        if fix.state == "unneeded":
            yield f"  {fix.path} has what its fix makes of it"
        else:
            yield f"  fix {fix.state}: {place_of(fix, entry)}"
    yield from (f"  fix not needed here: {file}" for file in entry.unneeded)
    if entry.outside:
        yield f"  {entry.outside} files outside vllm/ are no part of a lane"
    yield from (f"  {line}" for line in claimed(report, entry))
    if entry.open and entry.standing == "carried":
        yield "  not carried until a person settles its conflicts"
    for number, command in enumerate(entry.next):
        yield f"  {'or' if number else 'next'}: {command}"


def _file(file: FileReport, lane: str, entry: str) -> Iterator[str]:
    yield f"  {file.path}"
    for hunk in file.hunks:
        yield from _hunk(hunk, lane, entry)
    if file.blobs:
        base, ours, theirs = (blob[:12] for blob in file.blobs)
        yield f"{INDENT}blobs: base {base}, lane {ours}, {entry} {theirs}"


def _hunk(hunk: HunkReport, lane: str, entry: str) -> Iterator[str]:
    where = f" in {hunk.symbol}" if hunk.symbol else ""
    yield f"    {hunk.id}  {hunk.outcome}{where}"
    for line in what_of(hunk):
        yield f"{INDENT}{line}"
    for line in hunk.difference.split("\n") if hunk.difference else ():
        yield f"{INDENT}  | {cut(line)}".rstrip()
    for name, lines in three_sides(hunk, f"lane {lane}", entry):
        yield f"{INDENT}{name}"
        for line in lines:
            yield f"{INDENT}  | {cut(line)}".rstrip()
