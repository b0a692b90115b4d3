"""A probe's record: what was exact, what was measured, and what is open for want of hardware."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.probes.machine import Machine
from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.store.atomic import replace_file


def record(
    probe: str, found: Machine, *, exact: bool, rows: list[dict[str, Any]], open_rows: list[str]
) -> dict[str, Any]:
    """Make one.

    Args:
        probe: Its name.
        found: Where it ran.
        exact: Whether what was computed was right, to the last bit.
        rows: What was measured; none under the interpreter.
        open_rows: What was not, each with why.
    """
    return {
        "schema": 1,
        "probe": probe,
        "made": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "device": found.device or None,
        "capability": found.capability or None,
        "interpreter": not found.device,
        "exact": exact,
        "rows": rows,
        "open": open_rows,
    }


def keep(told: dict[str, Any], out: Path | None) -> Path:
    """Write it, all or nothing: to a file, or among the user's records.

    Raises:
        LanewrightError: It cannot be written.
    """
    stamp = told["made"].replace("-", "").replace(":", "")
    target = out or Places.of_user().state / "probes" / f"{told['probe']}-{stamp}.json"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, (json.dumps(told, indent=2, allow_nan=False) + "\n").encode())
    except OSError as error:
        raise LanewrightError(f"cannot write {target}: {error.strerror}") from error
    return target
