"""A night or a run in Markdown, for the top of its bundle and for a comment."""

from collections.abc import Iterator

from lanewright.bundle.gathering import Gathered
from lanewright.bundle.recorded import Recorded
from lanewright.bundle.told import run_told
from lanewright.nightly.night import Night
from lanewright.nightly.told import head
from lanewright.report.fitting import COMMENT, Section, fitted
from lanewright.report.markdown import report_markdown, report_table
from lanewright.report.marks import html, plain, table

NIGHT_OF = "Made by lanewright {lanewright}, of the project at {commit}."


def told_of(found: Gathered) -> str:
    """What was gathered: the night, and each run."""
    level = "###" if found.night else "##"
    lines = [_night(found.night, found)] if found.night else []
    for run in found.runs:
        lines += run_told(run.recorded, run.beside, run.autotune, level)
    return "\n".join(lines)


def comment_of(found: Gathered) -> str:
    """The same for a comment: verdicts, what did not pass, what is to blame, and reports folded away."""
    top = _night(found.night, found) if found.night else told_of(found)
    sections = [
        Section(
            f"the report of lane {plain(lane)}",
            [_folded(lane, form(report)) for form in (report_markdown, report_table)],
        )
        for lane, report in found.reports.items()
    ]
    return fitted(top, sections, COMMENT, "the bundle has it")


def _folded(lane: str, text: str) -> str:
    summary = f"report of lane {html(lane)}"
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def _night(night: Night, found: Gathered) -> str:
    commit = plain(night.commit) if night.commit else "no commit that is known"
    made = NIGHT_OF.format(lanewright=plain(night.lanewright), commit=commit)
    ended = [] if night.finished else ["It has not ended: it is under way, or was interrupted.", ""]
    names = ("lane", "run", "pin", "tree", "versions", "equality")
    runs = table(names, (_row(run.recorded) for run in found.runs))
    return "\n".join([head(night), made, "", *ended, *runs, *([""] if runs else [])])


def _row(found: Recorded) -> Iterator[str]:
    record, facts = found.record, found.facts
    if record is None or facts is None:
        yield from map(plain, (*found.run.key, found.why, "", "", ""))
        return
    ran = facts.environment
    versions = f"vLLM {ran.vllm or 'not known'}, torch {ran.torch or 'not known'}, {ran.machine}"
    equality = record.equality.verdict if record.equality else "not compared"
    told = (*found.run.key, record.pin.ref, record.tree[:12], versions, equality)
    yield from map(plain, told)
