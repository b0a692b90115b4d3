"""``lanewright bisect``: the hunks of a lane that make a command fail, or its answers differ."""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec

from lanewright.cli import Arguments, lane_of
from lanewright.errors import DriftError, ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.culprit.bisect import bisect
from lanewright.queue.culprit.judge import Environ, of_caller
from lanewright.queue.drift import drift
from lanewright.queue.edit.unpinned import no_lock
from lanewright.queue.lock import Lock
from lanewright.queue.pair import read_pair
from lanewright.report.culprit import culprits, drop_command, emit_culprits, say_found
from lanewright.serve.equality.edited import require_unedited
from lanewright.serve.equality.failed import newest_failed
from lanewright.serve.equality.suspect import suspect_of
from lanewright.serve.lane import lay_lane
from lanewright.serve.served import served_model
from lanewright.store.scratch import making
from lanewright.terminal import emit_json, say

AGAIN = "lanewright.serve.equality.again"


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print the smallest set of a lane's parts with which a command, or a comparison, fails."""
    lane = lane_of(project, arguments)
    planned, lock = read_pair(project, lane)
    if lock is None:
        raise no_lock(project, lane)
    if drift(planned, lock):
        raise DriftError(
            f"lane {lane}: the lock is out of date: {drift(planned, lock)}",
            hint=f"lanewright build {lane}",
        )
    with _judging(project, places, lock, arguments) as (judge, environ):
        found = bisect(project, places, planned, lock, judge, environ)
    told = culprits(project, places, planned, lock, found)
    command = drop_command(project, lane, found)
    if arguments.json:
        remedy = [str(piece.part) for piece in found.remedy]
        # A comparison's own is of no use to whoever types it.
        asked = arguments.run or None
        facts = {"lane": lane, "run": asked, "of": found.of, "tries": found.tries}
        emit_json({**facts, "parts": told, "good_without": remedy, "next": command})
    else:
        emit_culprits(told)
    say_found(told, found, command)
    return ExitCode.CLEAN


@contextmanager
def _judging(
    project: Project, places: Places, lock: Lock, arguments: Arguments
) -> Iterator[tuple[str, Environ]]:
    """The command that judges a tree, and what it gets."""
    try:
        if arguments.equal:
            with making(places.bisects) as scratch:
                yield _comparing(project, places, lock, scratch), _of_tool
        else:
            environ = _of_lane(project, places, lock.lane) if arguments.env else of_caller
            yield arguments.run, environ
    finally:
        # The lane's Python keeps compiled files of the trees beside those of its packages.
        compiled = places.bytecode.joinpath(*places.bisects.parts[1:])
        shutil.rmtree(compiled, ignore_errors=True)


def _comparing(project: Project, places: Places, lock: Lock, scratch: Path) -> str:
    """The command that holds a tree's answers against those of the newest comparison that failed."""
    failed = newest_failed(places, lock)
    lane = lay_lane(project, places, lock.lane)
    require_unedited(lane, failed)
    model = served_model(places, lane.env, lane.model).folder
    suspect = suspect_of(lane, model, failed)
    say(f"lane {lock.lane}: what failed in run {suspect.run} is tried again: {suspect.told}")
    file = scratch / "suspect.json"
    file.write_bytes(msgspec.json.encode(suspect, enc_hook=str))
    return shlex.join([sys.executable, "-m", AGAIN, str(file)])


def _of_tool(_tree: Path, _bytecode: Path) -> Mapping[str, str]:
    """What judges is this tool; the tree is for the lane's own Python."""
    return os.environ


def _of_lane(project: Project, places: Places, name: str) -> Environ:
    """What ``env`` prints, with the tree that is tried in place of the lane's own."""
    lane = lay_lane(project, places, name)
    model = served_model(places, lane.env, lane.model).folder
    named = {"LANE_PYTHON": str(lane.env.python), "LANE_MODEL": str(model)}
    return lambda tree, _: {**replace(lane.env, site=tree).environ(), **named}
