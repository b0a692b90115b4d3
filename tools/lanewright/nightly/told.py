"""A night in words: for a terminal, and in Markdown for a job's summary or a comment."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from lanewright.history.past import PastRun
from lanewright.nightly import compared
from lanewright.nightly.night import MOST, Night, Step
from lanewright.report.fitting import SUMMARY, Section, fitted
from lanewright.report.markdown import report_markdown, report_table
from lanewright.report.marks import plain
from lanewright.report.model import Report
from lanewright.store.regular import read_regular
from lanewright.terminal import printable

# At a line's front these are an item of a list, or make a heading of the line before.
AT_FRONT = re.compile(r"^([ \t]*(?:[0-9]+(?=[.)]))?)([-+=.)])", re.MULTILINE)
NONE: Mapping[str, PastRun] = MappingProxyType({})
MARKS = {
    "passed": "✅",
    "drift": "🔀",
    "conflicts": "❌",
    "failed": "❌",
    "not run": "🟠",
    "left out": "⚪",
    "pending": "⏳",
}


def of_lane(night: Night, lane: str) -> list[Step]:
    """A lane's steps, in order."""
    return [step for step in night.steps if step.lane == lane]


def verdict(night: Night, lane: str) -> str:
    """What a lane's night came to, in a word: what is worst of its steps."""
    found = {step.verdict for step in of_lane(night, lane)}
    for worst in ("failed", "conflicts", "pending", "not run"):
        if worst in found:
            return worst
    return "passed"


def text(night: Night, folder: Path, runs: Mapping[str, PastRun] = NONE) -> Iterator[str]:
    """Yield a few lines for each lane: what did not pass, why, and how fast it was.

    Args:
        night: It.
        folder: Its.
        runs: By lane, what the history has of its boot.
    """
    yield f"night {night.name}"
    for lane in night.lanes:
        yield f"  {lane}: {verdict(night, lane)}"
        for step in of_lane(night, lane):
            took = "" if step.seconds is None else f", {step.seconds:.0f} s"
            yield f"    {step.name:<7} {step.verdict}{took}"
            yield from (f"            {line}" for line in step.why.splitlines())
            if step.verdict != "passed" and step.log:
                yield f"            log: {folder / step.log}"
        if run := runs.get(lane):
            yield from (type(line)(f"    {line}") for line in compared.lines(run))


def markdown(night: Night, folder: Path, runs: Mapping[str, PastRun] = NONE) -> str:
    """Tables of lanes by steps and of throughput, what did not pass, then each lane's report, folded away.

    It fits a job's page: what has no room there is told.

    Args:
        night: It.
        folder: Its.
        runs: By lane, what the history has of its boot.
    """
    sections = [
        Section(f"the report of lane {lane}", (report_markdown(report), report_table(report)))
        for lane, report in reports(night, folder)
    ]
    where = f"`lanewright bundle {_plain(night.name)}` has it on the machine of the night"
    return fitted(head(night, runs), sections, SUMMARY, where)


def head(night: Night, runs: Mapping[str, PastRun] = NONE) -> str:
    """Tables of lanes by steps and of throughput, then what did not pass, and what is to blame."""
    names = [step.name for step in of_lane(night, night.lanes[0])] if night.lanes else []
    lines = [f"## Night {_plain(night.name)}", "", f"| lane | | {' | '.join(map(_plain, names))} |"]
    lines.append(f"|{' --- |' * (len(names) + 2)}")
    for lane in night.lanes:
        cells = [f"{MARKS[step.verdict]} {step.verdict}" for step in of_lane(night, lane)]
        lines.append(f"| {_plain(lane)} | **{verdict(night, lane)}** | {' | '.join(cells)} |")
    lines.append("")
    if told := [" | ".join(map(_plain, row)) for row in compared.rows(runs)]:
        lines += ["| lane | mode | arm | throughput | the lane's own drift |", f"|{' --- |' * 5}"]
        lines += [*(f"| {row} |" for row in told), ""]
    for step in night.steps:
        # What was tried, and could not be, is told; what a lane has no use for is not.
        if step.why and (step.verdict != "left out" or step.exit_code is not None):
            lines += [f"**{_plain(f'{step.lane} {step.name}')}**: {_came_to(step)}  "]
            lines += [f"{_plain(line)}  " for line in step.why.splitlines()]
            lines.append("")
    return printable("\n".join(lines))


def _came_to(step: Step) -> str:
    found = step.name == "bisect" and step.verdict == "passed"
    return "what is to blame, by leaving out all else" if found else step.verdict


def reports(night: Night, folder: Path) -> Iterator[tuple[str, Report]]:
    """Each lane's report, where the night came to one."""
    for lane in night.lanes:
        if report := report_of(night, folder, lane):
            yield lane, report


def report_of(night: Night, folder: Path, lane: str) -> Report | None:
    """What the night's report said of a lane's hunks; None where it came to none."""
    for step in of_lane(night, lane):
        if step.name == "report" and step.out and step.verdict in ("passed", "conflicts", "failed"):
            # No path: a night may have been written by anybody.
            content = read_regular(folder / Path(step.out).name, MOST)
            try:
                return msgspec.json.decode(content or b"", type=Report)
            except (ValueError, RecursionError):
                return None
    return None


def _plain(words: str) -> str:
    return AT_FRONT.sub(r"\1\\\2", plain(words))
