"""``lanewright bisect``: the hunks of a lane that make a command fail."""

import shutil
from dataclasses import replace

from lanewright.cli import Arguments, lane_of
from lanewright.errors import DriftError, ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.culprit.bisect import bisect
from lanewright.queue.culprit.judge import Environ, of_caller
from lanewright.queue.drift import drift
from lanewright.queue.pair import read_pair
from lanewright.report.culprit import culprits, drop_command, emit_culprits, say_found
from lanewright.serve.lane import lay_lane
from lanewright.serve.served import served_model
from lanewright.terminal import emit_json


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print the smallest set of a lane's parts with which a command fails."""
    lane = lane_of(project, arguments)
    planned, lock = read_pair(project, lane)
    if lock is None or drift(planned, lock):
        raise DriftError(
            f"lane {lane}: the lock is out of date: {drift(planned, lock)}",
            hint=f"lanewright build {lane}",
        )
    environ = _of_lane(project, places, lane) if arguments.env else of_caller
    try:
        found = bisect(project, places, planned, lock, arguments.run, environ)
    finally:
        # The lane's Python keeps compiled files of the trees beside those of its packages.
        compiled = places.bytecode.joinpath(*places.bisects.parts[1:])
        shutil.rmtree(compiled, ignore_errors=True)
    told = culprits(project, places, planned, lock, found)
    command = drop_command(project, lane, found)
    if arguments.json:
        remedy = [str(piece.part) for piece in found.remedy]
        facts = {"lane": lane, "run": arguments.run, "of": found.of, "tries": found.tries}
        emit_json({**facts, "parts": told, "good_without": remedy, "next": command})
    else:
        emit_culprits(told)
    say_found(told, found, command)
    return ExitCode.CLEAN


def _of_lane(project: Project, places: Places, name: str) -> Environ:
    """What ``env`` prints, with the tree that is tried in place of the lane's own."""
    lane = lay_lane(project, places, name)
    model = served_model(places, lane.env, lane.model).folder
    named = {"LANE_PYTHON": str(lane.env.python), "LANE_MODEL": str(model)}
    return lambda tree, _: {**replace(lane.env, site=tree).environ(), **named}
