"""``lanewright residency trace check``: whether a trace has every pick, and none beside."""

import json

from lanewright.cli import Arguments
from lanewright.errors import ExitCode
from lanewright.places import Places
from lanewright.project import Project
from lanewright.residency.trace_file.reading import read_trace
from lanewright.residency.trace_file.sums import require_exact
from lanewright.residency.trace_file.usage import counts_of
from lanewright.terminal import emit


def run(_project: Project | None, _places: Places, arguments: Arguments) -> ExitCode:
    """Print what it was held against.

    Raises:
        LanewrightError: It is no trace, or the usage map none, or of another model.
        MismatchError: It has other picks; the layer and the expert are named.
    """
    found = read_trace(arguments.trace_file)
    usage = arguments.checked_usage
    counts = None if usage is None else counts_of(usage, found)
    tokens = found.tokens if arguments.scheduled is None else arguments.scheduled
    require_exact(found, tokens, counts)
    against = {
        "form": True,
        "scheduled": arguments.scheduled,
        "usage": None if usage is None else str(usage),
    }
    told = {"schema": 1, "tokens": found.tokens, "picks": int(found.ids.size), "against": against}
    if arguments.json:
        emit(json.dumps(told, indent=2), always_utf8=True)
        return ExitCode.CLEAN
    beside = [
        *([] if arguments.scheduled is None else [f"{tokens} scheduled tokens"]),
        *([] if usage is None else [f"{usage}, expert by expert"]),
    ]
    emit(
        f"{found.tokens} tokens, {found.ids.size} picks: exact"
        + (
            f", beside {' and '.join(beside)}"
            if beside
            else " in form; --usage and --scheduled hold more"
        )
    )
    return ExitCode.CLEAN
