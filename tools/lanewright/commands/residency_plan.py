"""``lanewright residency plan``: what two banks take of a machine, without it."""

import json

import msgspec

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import Series, load_series
from lanewright.queue.series_machine import MachineSpec, check_machine
from lanewright.residency.dry_run import dry_run
from lanewright.residency.dry_run_told import facts, lines
from lanewright.residency.graphs import MOST, SIZES, STEP
from lanewright.serve.features import BANKS, STAGE
from lanewright.terminal import emit

GIVEN = ("device", "host", "link", "kv_tokens", "kv_pool", "other", "pinned", "page")


def run(project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Print the plan.

    Raises:
        LanewrightError: There is nothing to plan, or it does not fit; the plan is printed before.
    """
    lane = lane_of(project, arguments)
    series = _for_machine(load_series(project, lane), arguments)
    engine = dict(series.engine)
    # Empty text is as good as any: it takes out what the series says.
    engine |= {} if arguments.hot is None else {BANKS: arguments.hot}
    engine |= {} if arguments.stage is None else {STAGE: arguments.stage}
    # What is said here is said of this engine, whatever its series has.
    if arguments.graph_tokens is not None:
        engine |= {"enforce_eager": False, "compilation_config": None, SIZES: None}
        engine |= {MOST: arguments.graph_tokens}
    engine |= {STEP: arguments.step_tokens} if arguments.step_tokens else {}
    found = dry_run(series, lane, engine, arguments.cold_share)
    if arguments.json:
        emit(json.dumps(facts(found), indent=2), always_utf8=True)
    else:
        for line in lines(found):
            emit(line)
    if found.remedy:
        raise LanewrightError(f"lane {lane}: the two-bank does not fit", hint=found.remedy)
    return ExitCode.CLEAN


def _for_machine(series: Series, arguments: Arguments) -> Series:
    """Take what the command line says of a machine before what the series says."""
    given = {name: value for name in GIVEN if (value := getattr(arguments, name)) is not None}
    if not given:
        return series
    if series.machine is None:
        if missing := [f"--{name}" for name in ("device", "host") if name not in given]:
            raise LanewrightError(
                f"the series names no machine, and {' and '.join(missing)} is not given",
                hint="give both, as in --device 250.7GiB --host 494GiB",
            )
        machine = MachineSpec(**given)
    else:
        machine = msgspec.structs.replace(series.machine, **given)
    check_machine(machine, series.model.experts, "command line")
    return msgspec.structs.replace(series, machine=machine)
