"""The first user's lane and machine, as the repository has them."""

from pathlib import Path
from typing import Any

from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.residency.cost.estimate import Asked, Estimate, estimate
from lanewright.residency.cost.machine_file import MachineFile, load_machine
from lanewright.residency.cost.model import Model, of_series

ROOT = Path(__file__).parents[3]
LANE = "gb300-twobank"
MACHINE, STATED = ROOT / "machines" / "gb300.toml", ROOT / "machines" / "gb300-stated.toml"
# Of its map, its traffic, other traffic.
OLD, OWN, OTHER = "old map, by position", "usage map, its own traffic", "usage map, other traffic"


def lane_model(hot: str = "295") -> Model:
    series = load_series(Project.find(ROOT), LANE)
    return of_series(series, LANE, {**series.engine, "moe_hot_experts": hot})


def lane_machine() -> MachineFile:
    return load_machine(MACHINE)


def estimated(**asked: Any) -> Estimate:  # noqa: ANN401 - what is asked for
    machine = lane_machine()
    shares = asked.pop("shares", machine.cold_shares)
    return estimate(lane_model(), machine, Asked(shares, **asked), str(MACHINE))
