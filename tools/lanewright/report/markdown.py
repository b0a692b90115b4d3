"""The report in Markdown, as a pull request's comment or a job's summary shows it."""

import re
from collections.abc import Iterator

from lanewright.report.grid import grid
from lanewright.report.laid import folded
from lanewright.report.marks import code, fenced, html, plain
from lanewright.report.model import Commit, EntryReport, FileReport, HunkReport, Report
from lanewright.report.words import (
    before,
    claimed,
    ending,
    head,
    heading,
    in_common,
    is_quiet,
    label,
    now,
    place_of,
    three_sides,
    turned,
    what_of,
)
from lanewright.terminal import printable

ADDRESS = re.compile(r"https?://[\w.:/~%-]+")


def report_markdown(report: Report) -> str:
    """A table of the entries, then what needs a word, each entry folded away below its line."""
    lines = [*_top(report), ""]
    for entry in report.entries:
        lines += [*_entry(entry, report), ""]
    if report.matrix:
        lines += ["### What entries have in common", "", *fenced(list(grid(report))), ""]
        for cell in report.matrix:
            names = f"{plain(cell.one)} and {plain(cell.other)}"
            lines += [f"- {names}: {plain(line)}" for line in in_common(cell)]
        lines.append("")
    return printable("\n".join([*lines, plain(ending(report))]))


def report_table(report: Report) -> str:
    """The table of the entries alone."""
    return printable("\n".join([*_top(report), "", plain(ending(report))]))


def _top(report: Report) -> list[str]:
    return [f"## {plain(heading(report))}", "", *_table(report)]


def _table(report: Report) -> Iterator[str]:
    title, past = before(report)
    columns = ["entry", "what it is", title, f"now, {report.on}", "worth it", "head"]
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for entry, was in zip(report.entries, past, strict=True):
        row = [label(entry), entry.title, was, now(entry), entry.worth, head(entry)]
        yield f"| {' | '.join(map(plain, row))} |"


def _entry(entry: EntryReport, report: Report) -> Iterator[str]:
    watched = "watched, not carried: " if entry.standing == "watched" else ""
    mark = " open" if entry.open and not watched else ""
    yield f"<details{mark}><summary>{html(label(entry))}: {watched}{html(entry.counts or entry.verdict)}</summary>"
    yield ""
    for line in (*turned(entry), *entry.notes):
        yield f"{plain(line)}  "
    for command in entry.next:
        yield f"next: {code(command)}  "
    yield ""
    for file in entry.files:
        yield from _file(file, report.lane, label(entry))
    if entry.laid:
        yield f"- {plain(folded(entry.laid))}"
    for fix in entry.fixes:
        yield f"- fix {fix.state}: {place_of(fix, entry, quoting=code)}"
    yield from (f"- fix not needed here: {code(file)}" for file in entry.unneeded)
    if entry.outside:
        yield f"- {entry.outside} files outside `vllm/` are no part of a lane"
    yield from (f"- {plain(line)}" for line in claimed(report, entry))
    yield ""
    yield "</details>"


def _file(file: FileReport, lane: str, entry: str) -> Iterator[str]:
    if is_quiet(file):
        outcomes = ", ".join(dict.fromkeys(hunk.outcome for hunk in file.hunks))
        yield f"- {code(file.path)}: {outcomes}"
        return
    yield f"- {code(file.path)}"
    for hunk in file.hunks:
        yield from _hunk(hunk, lane, entry)


def _hunk(hunk: HunkReport, lane: str, entry: str) -> Iterator[str]:
    where = f" in {code(hunk.symbol)}" if hunk.symbol else ""
    told = "; ".join(plain(line) for line in what_of(hunk))
    link = _link(hunk.cause.commit) if hunk.cause and hunk.cause.commit else ""
    word = f"**{hunk.outcome}**" if hunk.open else hunk.outcome
    yield f"  - {code(hunk.id)}{where}: {word}{f'; {told}' if told else ''}{link}"
    if hunk.difference:
        yield from (f"    {line}" for line in fenced(hunk.difference.split("\n"), "diff"))
    for name, lines in three_sides(hunk, f"lane {lane}", entry):
        yield f"    - {plain(name)}"
        if lines:
            yield from (f"      {line}" for line in fenced(lines))


def _link(commit: Commit) -> str:
    # A report may be read back from a file that anybody could have written.
    return f" ([{plain(commit.id[:12])}]({commit.url}))" if ADDRESS.fullmatch(commit.url) else ""
