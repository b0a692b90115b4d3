"""The report as annotations of a GitHub workflow: what needs a person, at its entry's line."""

import re
from collections.abc import Iterator

from lanewright.project import Project
from lanewright.report.model import EntryReport, HunkReport, Report
from lanewright.report.words import ending, heading, label, now, turned, what_of
from lanewright.terminal import printable
from lanewright.workflow import command

ENTRY = re.compile(r"""\s*\[\[\s*(entry|"entry"|'entry')\s*\]\]""")
INLINE = re.compile(r"""\s*(entry|"entry"|'entry')\s*=""")
LEVELS = {
    "conflict": "error",
    "file missing": "error",
    "landed changed": "warning",
    "fix stale": "warning",
    "landed": "notice",
}


def report_annotations(project: Project, report: Report) -> str:
    """Workflow commands, one a line; each names the series' line where its entry begins.

    Args:
        project: Has the series.
        report: What to tell.
    """
    file = f"series/{report.lane}.toml"
    carried = [entry for entry in report.entries if entry.standing == "carried"]
    text = project.series_file(report.lane).read_text("utf-8", "replace")
    level = "notice" if report.complete else "error"
    table = [f"{label(entry)}: {now(entry)}" for entry in report.entries]
    # First, since only so many annotations of a step are shown.
    lines = [command(level, file, 1, heading(report), "\n".join([*table, ending(report)]))]
    for line, entry in zip(starts(text, len(carried)), carried, strict=True):
        lines += [command(level, file, line, title, said) for level, title, said in _said(entry)]
    for clash in report.clashes:
        said = f"{' and '.join(clash.entries)} claim {clash.claim}, so they exclude each other"
        lines.append(command("warning", file, 1, f"claim {clash.claim}", said))
    return printable("\n".join(lines))


def starts(series: str, count: int) -> list[int]:
    """The line at which each entry begins; where that is not sure, where all of them do."""
    lines = series.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if ENTRY.match(line)]
    if len(starts) == count:
        return starts
    inline = (number for number, line in enumerate(lines, 1) if INLINE.match(line))
    return [next(inline, 1)] * count


def _said(entry: EntryReport) -> Iterator[tuple[str, str, str]]:
    """Each hunk that needs a word: how grave it is, its title, and what is to be said."""
    for file in entry.files:
        for hunk in file.hunks:
            level = LEVELS.get(hunk.outcome)
            if level is None:
                continue
            if not hunk.open and hunk.outcome != "fix stale":
                level = "notice"
            title = f"{label(entry)}: {hunk.outcome}"
            yield level, title, "\n".join(_lines(entry, file.path, hunk))


def _lines(entry: EntryReport, path: str, hunk: HunkReport) -> Iterator[str]:
    where = f" in {hunk.symbol}" if hunk.symbol else ""
    yield f"{path}, hunk {hunk.id}{where}"
    yield from what_of(hunk)
    if hunk.open:
        yield from turned(entry)
        yield from (f"next: {command}" for command in entry.next)
