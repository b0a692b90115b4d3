"""E2: does one copy save several reads?

Programs read cold rows of a layer in place, each row once or several times in one launch, as a kernel
does that runs a program for every 8 tokens of an expert: right behind one another, or once all rows
were read. Where the repeats come out of L2 they cost little; where they cross the link again, as much
as the first read. Beside it: a copy to device memory, and as many reads there.
"""

from collections.abc import Mapping
from typing import Any

from benchmarks.intervals import median

SCRIPT = "probe_reads.py"
ROWS = "reads of cold rows again, by bytes that a layer touches, against one copy"
KERNEL = "FlashInfer's own kernel on sm_100 and sm_103: this probe reads rows by a plain kernel, on any device"


def facts(each: Mapping[str, Any]) -> dict[str, Any]:
    """Tell one number of rows, repeats and order; milliseconds.

    ``factor`` is reading ``repeats`` times by reading once: 1 where L2 has the repeats, ``repeats``
    where each crosses the link. ``copy_wins`` is reading in place by a copy and as many reads of it.
    """
    once = median(each["once"]).middle
    factor = median(
        [several / first for several, first in zip(each["several"], each["once"], strict=True)]
    )
    wins = median(
        [several / copied for several, copied in zip(each["several"], each["copied"], strict=True)]
    )
    return {
        "rows": each["rows"],
        "bytes": each["bytes"],
        "repeats": each["repeats"],
        "order": each["order"],
        "once_ms": once,
        "gb_s": each["bytes"] / once / 1e6,
        "factor": [factor.low, factor.middle, factor.high],
        "copy_wins": [wins.low, wins.middle, wins.high],
    }


def line(told: Mapping[str, Any]) -> str:
    """Tell it to people."""
    low, middle, high = told["factor"]
    return (
        f"  {told['bytes'] / 2**20:>6.0f} MiB in {told['rows']} rows, read {told['repeats']} times"
        f" {told['order']}: x{middle:.2f} [{low:.2f}, {high:.2f}] of once ({told['once_ms']:.3f} ms,"
        f" {told['gb_s']:.0f} GB/s); by a copy and reads of it x{told['copy_wins'][1]:.2f}"
    )
