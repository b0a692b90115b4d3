"""``lanewright residency gate``: whether prefetching is worth another look."""

import json

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.use.prfile import pr_file
from lanewright.report.about import about_pull
from lanewright.residency.gate.conditions import (
    Condition,
    cold_after_a_map,
    guessed_in_time,
    merged,
)
from lanewright.residency.gate.read import Replayed, Scoreboard, read_told
from lanewright.residency.gate.told import facts, lines
from lanewright.terminal import emit


def run(project: Project | None, places: Places, arguments: Arguments) -> ExitCode:
    """Print the conditions and the verdict; whatever it is, that is no failure.

    Raises:
        LanewrightError: A file is not what it is taken for, or the two are of different models.
    """
    replayed = scoreboard = None
    if arguments.replay_file is not None:
        replayed = read_told(arguments.replay_file, Replayed, "residency replay")
    if arguments.guess_file is not None:
        scoreboard = read_told(arguments.guess_file, Scoreboard, "residency guess")
    if replayed and scoreboard and replayed.model != scoreboard.model:
        raise LanewrightError(
            f"{arguments.guess_file} is of another model than {arguments.replay_file}",
            hint="make both of one trace, or of traces of one model",
        )
    conditions = [
        cold_after_a_map(replayed),
        guessed_in_time(scoreboard),
        _merged(project, places, arguments.residency_pull),
    ]
    if arguments.json:
        emit(json.dumps(facts(conditions), indent=2), always_utf8=True)
    else:
        for line in lines(conditions):
            emit(line)
    return ExitCode.CLEAN


def _merged(project: Project | None, places: Places, number: int) -> Condition:
    if project is None:
        return merged(number, "", "")
    state = about_pull(project, places, number, None).state
    file = pr_file(project, number)
    seen = file.state_seen if file is not None and file.state == state else None
    return merged(number, state, "" if seen is None else seen.isoformat())
