"""What did not pass in a night, as annotations of the files in which it is to be mended."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lanewright.nightly.night import Night, Step
from lanewright.nightly.placing import Place, Placing
from lanewright.nightly.told import of_lane, report_of
from lanewright.page.nights import SeenNight
from lanewright.page.outputs import BadPart, bisect_of
from lanewright.project import Project
from lanewright.report.model import EntryReport
from lanewright.report.words import label, now
from lanewright.workflow import command

LEVELS = {
    "failed": "error",
    "conflicts": "error",
    "not run": "warning",
    "drift": "warning",
    # What was tried, and could not be.
    "left out": "notice",
}
# Of each level; GitHub shows no more of a step.
MOST = 10
COMPARED = ("boot", "smoke")


@dataclass(frozen=True)
class Annotation:
    """One.

    Attributes:
        level: ``error``, ``warning`` or ``notice``.
        place: Where it stands.
        title: Its lane, and what did not pass.
        said: Why.
    """

    level: str
    place: Place
    title: str
    said: str


def annotations(project: Project, night: Night, folder: Path) -> list[str]:
    """Commands for GitHub's runner, a line each: the gravest first, and ten of each level at most.

    Args:
        project: Has the files.
        night: What came of it.
        folder: Of the night.
    """
    found = [each for lane in night.lanes for each in _of_lane(project, night, folder, lane)]
    below = _below_the_repository(project.root)
    lines = []
    for level in dict.fromkeys(LEVELS.values()):
        of_level = [each for each in found if each.level == level]
        for each in _shown(of_level):
            place = each.place
            lines.append(
                command(each.level, f"{below}{place.file}", place.line, each.title, each.said)
            )
    return lines


def _shown(found: list[Annotation]) -> list[Annotation]:
    """All of them, or as many as are shown, of which the last tells how many are not."""
    if len(found) <= MOST:
        return found
    kept, left = found[: MOST - 1], found[MOST - 1 :]
    first = left[0]
    said = "\n".join(each.title for each in left)
    return [*kept, Annotation(first.level, first.place, f"{len(left)} more", said)]


def _of_lane(project: Project, night: Night, folder: Path, lane: str) -> Iterator[Annotation]:
    report = report_of(night, folder, lane)
    placing = Placing(project, lane, report)
    blamed = bisect_of(SeenNight(folder, night, newest=True), lane)
    steps = [step for step in of_lane(night, lane) if _counts(step)]
    waiting = [entry for entry in report.entries if _waits(entry)] if report else []
    # A report and a build find the same.
    in_conflict = [step for step in steps if step.verdict == "conflicts"]
    for step in steps:
        if waiting and step in in_conflict:
            if step is in_conflict[0]:
                yield from _conflicts(placing, waiting, in_conflict)
        elif blamed and step.name in COMPARED and step.verdict == "failed":
            yield from (_blamed(placing, step, part) for part in blamed.blamed)
        else:
            title = f"{lane} {step.name}: {step.verdict}"
            yield Annotation(
                LEVELS[step.verdict], placing.named(step.why), title, step.why or title
            )


def _counts(step: Step) -> bool:
    tried = step.verdict != "left out" or step.exit_code is not None
    return step.verdict in LEVELS and tried


def _waits(entry: EntryReport) -> bool:
    return entry.open and entry.standing == "carried"


def _conflicts(
    placing: Placing, waiting: list[EntryReport], steps: list[Step]
) -> Iterator[Annotation]:
    names = ", ".join(step.name for step in steps)
    for entry in waiting:
        title = f"{placing.lane} {names}: {label(entry)}: conflicts"
        said = "\n".join([now(entry), *(f"next: {line}" for line in entry.next)])
        yield Annotation("error", placing.of_entry(entry), title, said)


def _blamed(placing: Placing, step: Step, part: BadPart) -> Annotation:
    title = f"{placing.lane} {step.name}: {step.verdict}, by {part.part}"
    place = placing.of_part(part.part, [hunk.id for hunk in part.hunks])
    return Annotation("error", place, title, f"{part.told}\n{step.why}")


def _below_the_repository(root: Path) -> str:
    """What stands before a path of the project in one of the repository that GitHub checked out."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if not workspace:
        return ""
    above, here = Path(workspace).resolve(), root.resolve()
    inside = here != above and here.is_relative_to(above)
    return f"{here.relative_to(above).as_posix()}/" if inside else ""
