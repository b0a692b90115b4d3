"""``lanewright residency replay``: policies beside one another on a recorded trace."""

import json

from lanewright.cli import Arguments
from lanewright.errors import ExitCode, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.residency.asked_rows import asked_rows, asked_size
from lanewright.residency.compared.first_tokens import places
from lanewright.residency.compared.outcome import Outcome
from lanewright.residency.compared.plot import write_plot
from lanewright.residency.compared.policies import POLICIES, outcomes
from lanewright.residency.compared.setting import LINKS, Setting, ended, learned_tokens, selected
from lanewright.residency.compared.told import by_token_lines, facts, lines
from lanewright.residency.infinity.settings import Settings
from lanewright.residency.oracle import oracle_map
from lanewright.residency.picture import require_kind
from lanewright.residency.trace import counted
from lanewright.residency.trace_file.reading import read_trace
from lanewright.residency.trace_file.recorded import Recorded
from lanewright.residency.trace_file.usage import counts_of
from lanewright.terminal import emit, say

LEARNED = 0.25


def run(_project: Project | None, _places: Places, arguments: Arguments) -> ExitCode:
    """Print the comparison.

    Raises:
        LanewrightError: The trace or the usage map cannot be read, does not go with the other, or
            what is asked for does not go with the trace.
    """
    if arguments.plot is not None:
        require_kind(arguments.plot)
    found = read_trace(arguments.trace_file)
    setting, start = _setting(found, arguments)
    done: list[Outcome] = []
    for name in arguments.policies or POLICIES:
        say(f"{name} ...")
        done += outcomes(name, setting)
    told = facts(setting, done, places(found.request)[start:])
    if arguments.plot is not None:
        write_plot(told, arguments.plot)
    if arguments.json:
        emit(json.dumps(told, indent=2), always_utf8=True)
        return ExitCode.CLEAN
    if start:
        emit(f"the map at the start is of the first {start} tokens, which are not replayed")
    for line in [*lines(told), *(by_token_lines(told) if arguments.by_token else ())]:
        emit(line)
    return ExitCode.CLEAN


def _setting(found: Recorded, arguments: Arguments) -> tuple[Setting, int]:
    """What is compared on, and from which token on."""
    row = asked_size(arguments.row, "--row")
    rows = asked_rows(arguments.hot, found, row)
    if arguments.boot is not None:
        start, counts = 0, counts_of(arguments.boot, found)
    else:
        start = learned_tokens(found, LEARNED if arguments.learn is None else arguments.learn)
        counts = counted(found.ids[:start], found.experts)
    trace = selected(found, slice(start, None))
    if not trace.tokens:
        raise LanewrightError(
            f"{arguments.trace_file}: no token is left to replay",
            hint="give a smaller --learn, or a trace with more forwards",
        )
    buffer = None if arguments.buffer is None else asked_size(arguments.buffer, "--buffer") // row
    setting = Setting(
        trace=trace,
        boot=oracle_map(counts, rows),
        rows=rows,
        row=row,
        links=tuple(arguments.links or LINKS),
        step_seconds=arguments.step / 1e3,
        buffer=buffer,
        infinity=Settings(
            capacity=arguments.eams, nearest=arguments.nearest, ahead=arguments.ahead
        ),
        past=ended(found, start),
    )
    return setting, start
