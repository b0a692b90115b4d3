"""``lanewright residency top``: a live table of how a server's map of experts does."""

import io
import os
import time

from rich.console import Console
from rich.live import Live

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.residency.top.frame import frame
from lanewright.residency.top.source import Source, Stats, of_file, of_server
from lanewright.terminal import emit, emit_json

# Of a frame that no terminal cuts.
WIDE = 1000


def run(_project: Project, _places: Places, arguments: Arguments) -> ExitCode:
    """Show frame after frame until interrupted; with ``--once`` one, with ``--json`` its data.

    Raises:
        LanewrightError: There is no such server or file, it has no two banks, or it is another
            model's from one frame to the next.
    """
    source = (
        of_file(arguments.stats_file) if arguments.stats_file else of_server(arguments.server_port)
    )
    stats = source(None)
    if arguments.json:
        emit_json(stats)
        return ExitCode.CLEAN
    plain = bool(os.environ.get("NO_COLOR"))
    console = Console(color_system=None if plain else "auto", highlight=False)
    if arguments.once:
        _print(console, stats, None)
    elif _redraws(console):
        _redraw(console, source, stats, arguments.interval)
    else:
        before: Stats | None = None
        while _print(console, stats, before):
            time.sleep(arguments.interval)
            before, stats = stats, source(stats["model"])
    return ExitCode.CLEAN


def _redraws(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal


def _redraw(console: Console, source: Source, stats: Stats, interval: float) -> None:
    before: Stats | None = None
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            drawn = frame(stats, before, width=console.width, height=console.height)
            live.update(drawn, refresh=True)
            time.sleep(interval)
            before, stats = stats, source(stats["model"])


def _print(console: Console, stats: Stats, before: Stats | None) -> bool:
    """Print a whole frame; tell whether there still is a reader."""
    if console.is_terminal:
        console.print(frame(stats, before, width=console.width))
        return True
    plain = Console(file=io.StringIO(), width=WIDE, color_system=None)
    with plain.capture() as captured:
        plain.print(frame(stats, before, width=WIDE))
    return emit(captured.get())
