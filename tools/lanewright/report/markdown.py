"""The report in Markdown, as a pull request's comment or a job's summary shows it."""

import re
from collections.abc import Iterator

from lanewright.invisible import visible
from lanewright.report.grid import grid
from lanewright.report.laid import folded
from lanewright.report.model import Commit, EntryReport, FileReport, HunkReport, Report
from lanewright.report.shown import cut, in_a_line
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

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
FENCE = re.compile(r"`{3,}")


def report_markdown(report: Report) -> str:
    """A table of the entries, then what needs a word, each entry folded away below its line."""
    lines = [f"## {_plain(heading(report))}", "", *_table(report), ""]
    for entry in report.entries:
        lines += [*_entry(entry, report), ""]
    if report.matrix:
        lines += ["### What entries have in common", "", *_fenced(list(grid(report))), ""]
        for cell in report.matrix:
            names = f"{_plain(cell.one)} and {_plain(cell.other)}"
            lines += [f"- {names}: {_plain(line)}" for line in in_common(cell)]
        lines.append("")
    return printable("\n".join([*lines, _plain(ending(report))]))


def _table(report: Report) -> Iterator[str]:
    title, past = before(report)
    columns = ["entry", "what it is", title, f"now, {report.on}", "worth it", "head"]
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for entry, was in zip(report.entries, past, strict=True):
        row = [label(entry), entry.title, was, now(entry), entry.worth, head(entry)]
        yield f"| {' | '.join(map(_plain, row))} |"


def _entry(entry: EntryReport, report: Report) -> Iterator[str]:
    watched = "watched, not carried: " if entry.standing == "watched" else ""
    mark = " open" if entry.open and not watched else ""
    yield f"<details{mark}><summary>{_html(label(entry))}: {watched}{_html(entry.counts or entry.verdict)}</summary>"
    yield ""
    for line in (*turned(entry), *entry.notes):
        yield f"{_plain(line)}  "
    for command in entry.next:
        yield f"next: {_code(command)}  "
    yield ""
    for file in entry.files:
        yield from _file(file, report.lane, label(entry))
    if entry.laid:
        yield f"- {_plain(folded(entry.laid))}"
    for fix in entry.fixes:
        yield f"- fix {fix.state}: {place_of(fix, entry, quoting=_code)}"
    yield from (f"- fix not needed here: {_code(file)}" for file in entry.unneeded)
    if entry.outside:
        yield f"- {entry.outside} files outside `vllm/` are no part of a lane"
    yield from (f"- {_plain(line)}" for line in claimed(report, entry))
    yield ""
    yield "</details>"


def _file(file: FileReport, lane: str, entry: str) -> Iterator[str]:
    if is_quiet(file):
        outcomes = ", ".join(dict.fromkeys(hunk.outcome for hunk in file.hunks))
        yield f"- {_code(file.path)}: {outcomes}"
        return
    yield f"- {_code(file.path)}"
    for hunk in file.hunks:
        yield from _hunk(hunk, lane, entry)


def _hunk(hunk: HunkReport, lane: str, entry: str) -> Iterator[str]:
    where = f" in {_code(hunk.symbol)}" if hunk.symbol else ""
    told = "; ".join(_plain(line) for line in what_of(hunk))
    link = _link(hunk.cause.commit) if hunk.cause and hunk.cause.commit else ""
    word = f"**{hunk.outcome}**" if hunk.open else hunk.outcome
    yield f"  - {_code(hunk.id)}{where}: {word}{f'; {told}' if told else ''}{link}"
    if hunk.difference:
        yield from (f"    {line}" for line in _fenced(hunk.difference.split("\n"), "diff"))
    for name, lines in three_sides(hunk, f"lane {lane}", entry):
        yield f"    - {_plain(name)}"
        if lines:
            yield from (f"      {line}" for line in _fenced(lines))


def _link(commit: Commit) -> str:
    return f" ([{commit.id[:12]}]({commit.url}))" if commit.url else ""


def _fenced(lines: list[str], language: str = "") -> list[str]:
    """Lines as they are; the fence is longer than any in them."""
    lines = [in_a_line(cut(line)) for line in lines]
    longest = max((len(found[0]) for line in lines for found in FENCE.finditer(line)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{language}", *lines, fence] if lines else []


def _plain(text: str) -> str:
    """Text of others, of which nothing is taken for a mark, a mention or a link."""
    escaped = SPECIAL.sub(r"\\\1", visible(" ".join(text.split())))
    for sign in ("@", "\\#", "www", "GH-"):
        escaped = escaped.replace(sign, f"{sign}\u200b")
    return escaped.replace("://", ":\u200b//")


def _html(text: str) -> str:
    text = visible(" ".join(text.split())).replace("#", "#\u200b")
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(text: str) -> str:
    """Text in a code span, whatever ticks it holds."""
    text = in_a_line(text)
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"
