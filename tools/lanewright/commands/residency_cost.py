"""``lanewright residency cost``: what cold experts cost, and what would pay."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from expert_bank.sizes import parse_size
from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import NoProjectError, Project
from lanewright.queue.series import Series, load_series
from lanewright.residency.cost.compared import compare
from lanewright.residency.cost.estimate import Asked, Estimate, estimate
from lanewright.residency.cost.experts import read_experts
from lanewright.residency.cost.facts import compared, facts
from lanewright.residency.cost.figures import load_figures
from lanewright.residency.cost.figures_told import figure_lines
from lanewright.residency.cost.machine_file import MachineFile, load_machine
from lanewright.residency.cost.model import Model, of_experts, of_series
from lanewright.residency.cost.told import lines
from lanewright.residency.dry_run import MODE
from lanewright.serve.features import BANKS
from lanewright.terminal import emit, emit_lines, say

UNIFORM, GIVEN = "uniform traffic", "as asked for"


def run(project: Project | None, _places: Places, arguments: Arguments) -> ExitCode:
    """Print the estimate.

    Raises:
        LanewrightError: Model, machine or figures are not described, or are so in a way that is not known.
    """
    series, lane = _lane(project, arguments)
    model, engine = _model(series, lane, arguments)
    machine, place = _machine(series, lane, arguments)
    asked = _asked(model, machine, engine, arguments)
    found = estimate(model, machine, asked, place)
    values = facts(found)
    figures = load_figures(arguments.figures) if arguments.figures else None
    if figures is not None:
        values["figures"] = compared(figures, values, arguments.figures or Path())
    if arguments.plots:
        _draw(found, arguments.plots)
    if arguments.json:
        emit(json.dumps(values, indent=2), always_utf8=True)
        return ExitCode.CLEAN

    def told() -> Iterator[str]:
        yield from lines(found)
        if figures is not None:
            yield ""
            yield from figure_lines(figures, compare(figures, values, arguments.figures or Path()))

    emit_lines(told())
    return ExitCode.CLEAN


def _lane(project: Project | None, arguments: Arguments) -> tuple[Series | None, str]:
    """The lane, where model or machine are its; None where both are given."""
    if arguments.checkpoint and arguments.machine_file and not arguments.lane:
        return None, ""
    if project is None:
        raise NoProjectError(
            "no upstream.toml here or above, and no lane without one",
            hint="give both --config and --machine, or run lanewright inside a project",
        )
    lane = lane_of(project, arguments)
    return load_series(project, lane), lane


def _model(series: Series | None, lane: str, arguments: Arguments) -> tuple[Model, dict[str, Any]]:
    engine = dict(series.engine) if series else {}
    engine |= {BANKS: arguments.hot} if arguments.hot else {}
    if arguments.checkpoint is None and series is not None:
        return of_series(series, lane, engine), engine
    experts = read_experts(arguments.checkpoint or Path())
    if not engine.get(BANKS):
        raise LanewrightError(
            "how many experts are hot is not said",
            hint="give --hot, as in --hot 100 or --hot fit:200GiB",
        )
    return of_experts(experts, engine[BANKS]), engine


def _machine(series: Series | None, lane: str, arguments: Arguments) -> tuple[MachineFile, str]:
    if arguments.machine_file:
        return load_machine(arguments.machine_file), str(arguments.machine_file)
    if series is None or series.machine is None:
        raise LanewrightError(
            f"lane {lane} names no [machine]",
            hint="give --machine FILE, such as --machine machines/gb300.toml",
        )
    return MachineFile(series.machine), f"series/{lane}.toml"


def _asked(
    model: Model, machine: MachineFile, engine: dict[str, Any], arguments: Arguments
) -> Asked:
    shares = dict(machine.cold_shares)
    if arguments.cold_share is not None:
        shares[GIVEN] = arguments.cold_share
    if not shares:
        shares[UNIFORM] = sum(model.cold) / (model.layers * model.experts)
    given: dict[str, Any] = {}
    if arguments.budget is not None:
        if not (size := parse_size(arguments.budget)):
            raise LanewrightError(
                f"--budget is {arguments.budget!r}, which is no size above 0",
                hint="write 64MiB (KiB, MiB or GiB)",
            )
        given["budget"] = size
    return Asked(
        shares=shares,
        users=arguments.users or (),
        tokens=arguments.tokens,
        overlap=arguments.overlap,
        skew=arguments.skew,
        slots=arguments.slots,
        # Without a mirror what is demoted is written back.
        moved=2 if engine.get(MODE) == "exclusive" else 1,
        **given,
    )


def _draw(found: Estimate, folder: Path) -> None:
    # A second that only plots pay.
    from lanewright.residency.cost.plots import write_plots  # noqa: PLC0415

    write: Callable[[Estimate, Path], list[Path]] = write_plots
    for file in write(found, folder):
        say(f"drawn: {file}")
