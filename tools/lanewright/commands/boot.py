"""``lanewright boot``: run a built lane for real, and keep a record of it."""

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.build import build
from lanewright.queue.series import load_series
from lanewright.queue.site import lay_site
from lanewright.queue.verify import require_intact
from lanewright.serve.base import ensure_base
from lanewright.serve.environment import LaneEnv
from lanewright.serve.hardware import require_hardware
from lanewright.serve.run import run_lane
from lanewright.serve.summary import summary
from lanewright.terminal import emit


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Boot the lane's engine and server; print the summary of what ran."""
    lane = lane_of(project, arguments)
    series = load_series(project, lane)
    require_hardware(lane, series.device)
    lock = build(project, places, lane, check=True).lock
    python = ensure_base(places, project.environments / f"{series.device}.txt")
    site = lay_site(places, lock.pin, lock.tree)
    require_intact(places, lock)
    record = run_lane(
        places,
        lock=lock,
        env=LaneEnv(python=python, site=site, bytecode=places.bytecode),
        recipe=series.model.recipe,
        engine=series.engine,
        port=arguments.port,
        server=not arguments.no_server,
    )
    emit(summary(record))
    return ExitCode.CLEAN
