"""``lanewright history``: what nights and runs came to, and which of them stay on disk."""

import io
import os

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.history.database import opened
from lanewright.history.grid import grid
from lanewright.history.nights import all_nights
from lanewright.history.past import History, PastNight
from lanewright.history.pruning import Pruned, prune
from lanewright.history.runs import all_runs
from lanewright.history.taking_in import take_in_all
from lanewright.history.text import night_lines, run_line
from lanewright.history.transactions import reading
from lanewright.places import Places
from lanewright.project import Project
from lanewright.report.outcome import counted
from lanewright.terminal import emit, emit_json, emit_lines, say

# Nights that are told to people, of all lanes and of one, where no number is given.
MOST, MOST_OF_LANE = 14, 3
# Of a grid that no terminal cuts.
WIDE = 1000


def run(project: Project | None, places: Places, arguments: Arguments) -> ExitCode:
    """Take in what is new, and tell; or remove what is old.

    Raises:
        LanewrightError: There is no such lane, or the history's own file cannot be used.
    """
    if arguments.prune is not None:
        _tell_pruned(prune(places, arguments.prune), as_json=arguments.json)
        return ExitCode.CLEAN
    history = _history(project, places, arguments)
    if arguments.json:
        emit_json(history)
        return ExitCode.CLEAN
    if history.nights:
        _print_grid(history.nights)
    else:
        say("no night yet; `lanewright history --runs` lists runs")
    if arguments.lane:
        for night in history.nights:
            emit_lines([*night_lines(night), ""])
    for each in history.runs:
        emit(run_line(each))
    return ExitCode.CLEAN


def _history(project: Project | None, places: Places, arguments: Arguments) -> History:
    lane, most = arguments.lane, arguments.nights
    if most is None and not arguments.json:
        most = MOST_OF_LANE if lane else MOST
    with opened(places) as connection:
        take_in_all(connection, places)
        with reading(connection):
            nights = all_nights(connection, lane, most)
            runs = all_runs(connection, lane) if arguments.runs else []
            known = bool(nights or not lane or all_runs(connection, lane))
    if lane and not known:
        if project:
            project.series_file(lane)
        else:
            raise LanewrightError(
                f"the history knows no lane {lane!r}", hint="lanewright history --runs"
            )
    return History(nights, runs)


def _print_grid(nights: list[PastNight]) -> None:
    from rich.console import Console  # noqa: PLC0415 - 100 ms that JSON need not pay

    table = grid(nights)
    plain = bool(os.environ.get("NO_COLOR"))
    console = Console(color_system=None if plain else "auto", highlight=False)
    if console.is_terminal:
        console.print(table)
        return
    out = io.StringIO()
    Console(file=out, width=WIDE, color_system=None, highlight=False).print(table)
    emit("\n".join(line.rstrip() for line in out.getvalue().splitlines() if line.strip()))


def _tell_pruned(pruned: Pruned, *, as_json: bool) -> None:
    if as_json:
        emit_json(pruned)
        return
    for each in pruned.removed:
        emit(f"removed {each.folder}: {each.bytes} bytes")
    for kept in pruned.kept:
        say(f"kept {kept.folder}: {kept.why}")
    emit(f"{counted(len(pruned.removed), 'folder')} removed, {pruned.bytes} bytes")
