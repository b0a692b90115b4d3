"""A usage map beside a trace."""

from pathlib import Path

import numpy as np

from lanewright.errors import LanewrightError
from lanewright.residency.trace import Picks
from lanewright.residency.trace_file.recorded import Recorded
from lanewright.residency.usage_map import read_usage_map


def counts_of(file: Path, found: Recorded) -> Picks:
    """Read the picks of a usage map: int64[L, E], the trace's layers.

    Raises:
        LanewrightError: It is none, or of another model or other layers than the trace.
    """
    usage = read_usage_map(file)
    if usage.model != found.model:
        raise LanewrightError(
            f"{file} is of another model than the trace",
            hint="lanewright usage --out FILE, of the server that the trace is of",
        )
    counts = [usage.layers.get(name, []) for name in found.layers]
    if any(len(each) != found.experts for each in counts):
        raise LanewrightError(f"{file} lacks layers of the trace, or has other experts in them")
    return np.array(counts, np.int64)
