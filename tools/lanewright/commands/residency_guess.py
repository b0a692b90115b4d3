"""``lanewright residency guess``: guessers of the next experts beside one another."""

import json

from lanewright.cli import Arguments, lane_of
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.series import load_series
from lanewright.residency.asked_rows import asked_rows, asked_size
from lanewright.residency.compared.setting import LINKS
from lanewright.residency.guess.guessers import CONTROL, GUESSERS, Scored, scoreboard
from lanewright.residency.guess.head import Fitting, NoFitting
from lanewright.residency.guess.plot import write_plot
from lanewright.residency.guess.setting import Setting
from lanewright.residency.guess.split import learned_requests
from lanewright.residency.guess.told import facts, lines
from lanewright.residency.oracle import oracle_map
from lanewright.residency.picture import require_kind
from lanewright.residency.trace import counted
from lanewright.residency.trace_file.reading import read_trace
from lanewright.residency.trace_file.recorded import Recorded
from lanewright.serve.base import ensure_base
from lanewright.terminal import emit, say

LEARNED = 0.25


def run(project: Project, places: Places, arguments: Arguments) -> ExitCode:
    """Print the scoreboard.

    Raises:
        LanewrightError: The trace cannot be read, or what is asked for does not go with it.
        MismatchError: The control does not score 1.
    """
    if arguments.plot is not None:
        require_kind(arguments.plot)
    found = read_trace(arguments.trace_file)
    names = [name for name in GUESSERS if name in {*(arguments.guessers or GUESSERS), CONTROL}]
    head = _head(project, places, arguments) if "head" in names and found.hidden_size else None
    setting = _setting(found, arguments, head)
    board: list[Scored] = []
    for each in scoreboard(setting, names):
        say(f"{each.name} ...")
        board.append(each)
    told = facts(setting, board)
    if arguments.plot is not None:
        write_plot(told, arguments.plot)
    if arguments.json:
        emit(json.dumps(told, indent=2), always_utf8=True)
        return ExitCode.CLEAN
    for line in lines(told):
        emit(line)
    return ExitCode.CLEAN


def _head(project: Project, places: Places, arguments: Arguments) -> Fitting | NoFitting:
    """The Python of the lane's base, where it can be had; neither its tree nor vLLM is needed."""
    name = lane_of(project, arguments)
    device = load_series(project, name).device
    needs = project.environments / f"{device}.txt"
    if not needs.exists():
        return NoFitting(f"lane {name} runs in its image alone, and a head is fitted outside of it")
    try:
        return Fitting(ensure_base(places, needs), places)
    except LanewrightError as error:
        return NoFitting(f"lane {name}: {error}")


def _setting(found: Recorded, arguments: Arguments, head: Fitting | NoFitting | None) -> Setting:
    row = asked_size(arguments.row, "--row")
    rows = asked_rows(arguments.hot, found, row)
    try:
        learned = learned_requests(
            found,
            LEARNED if arguments.learn is None else arguments.learn,
            drawn=arguments.drawn,
            seed=arguments.seed,
        )
    except ValueError as error:
        raise LanewrightError(
            f"{arguments.trace_file}: nothing can be held out: {error}",
            hint="give another --learn, or a trace of more requests",
        ) from error
    setting = Setting(
        trace=found,
        learned=learned,
        phase="prefill" if arguments.phase == "prefill" else "decode",
        boot=oracle_map(counted(found.ids[learned], found.experts), rows),
        row=row,
        links=tuple(arguments.links or LINKS),
        step_seconds=arguments.step / 1e3,
        attention=arguments.attention,
        eams=arguments.eams,
        nearest=arguments.nearest,
        seed=arguments.seed,
        head=head,
    )
    if not len(setting.scored):
        raise LanewrightError(
            f"{arguments.trace_file}: no token of {setting.phase} is left to guess at",
            hint="give a smaller --learn, another --phase, or a trace with more requests",
        )
    return setting
