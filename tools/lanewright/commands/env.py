"""``lanewright env``: the environment of a lane, for a shell."""

import os
import shlex

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.serve.boot import engine_arguments
from lanewright.serve.environment import STATS
from lanewright.serve.flags import flags
from lanewright.serve.lane import lay_lane
from lanewright.serve.served import served_model
from lanewright.terminal import emit_for_shell, for_shell


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print assignments for ``eval``: what a boot sets, the lane's Python, model and server's flags.

    ``LANE_FLAGS`` is quoted for a shell: ``eval "set -- $LANE_FLAGS"`` takes it apart.

    Raises:
        LanewrightError: As ``lay_lane`` and ``engine_arguments`` say.
    """
    lane = lay_lane(project, places, lane_of(project, arguments))
    model = served_model(places, lane.env, lane.model).folder
    wanted = lane.env.environ()
    # A folder: each server that is started so has a file of its own there.
    stats = places.state / "stats" / lane.lock.lane
    stats.mkdir(parents=True, exist_ok=True)
    found = {
        **{name: value for name, value in wanted.items() if os.environ.get(name) != value},
        "LANE_PYTHON": str(lane.env.python),
        "LANE_MODEL": str(model),
        "LANE_FLAGS": shlex.join(flags(engine_arguments(lane.env, lane.engine, lane.device))),
        STATS: str(stats),
    }
    for name in sorted(os.environ.keys() - wanted.keys()):
        emit_for_shell(f"unset {name}")
    for name, value in found.items():
        emit_for_shell(f"export {name}={for_shell(value)}")
    return ExitCode.CLEAN
