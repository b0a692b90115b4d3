"""What a lane answered on this machine, outside of any container."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.errors import LanewrightError
from lanewright.places import Places
from lanewright.queue.lock import Lock
from lanewright.serve.equality.asked import Mode
from lanewright.serve.record import newest_records
from lanewright.terminal import quoted


@dataclass(frozen=True)
class Golden:
    """Answers to hold others against.

    Attributes:
        run: Folder of the run that gave them.
        whose: Which engine's they are, for people.
        completions: As ``serve/inside/arms.py`` writes them.
        exact: Whether they hold the bits of logprobs.
        seconds: How long ``import``, ``engine`` and ``generate`` took.
    """

    run: Path
    whose: str
    completions: list[dict[str, Any]]
    exact: bool
    seconds: dict[str, float]


def golden(places: Places, lock: Lock, mode: Mode) -> Golden:
    """The newest answers of a run of the lane's tree that passed.

    The unpatched pin's, where the run compared with it; else the lane's own.

    Raises:
        LanewrightError: There is no such run.
    """
    for record, folder in newest_records(places, lock.lane):
        if record.get("tree") != lock.tree or record.get("verdict") != "passed":
            continue
        baseline = folder / "equality" / f"pin.{mode}.baseline.json"
        if record.get("equality") and baseline.exists():
            found = json.loads(baseline.read_text())
            whose = f"the unpatched pin's ({mode})"
            return Golden(folder, whose, found["completions"], True, found["seconds"])  # noqa: FBT003
        offline = (record.get("boots") or {}).get("offline")
        if offline:
            return Golden(folder, "the lane's", offline["completions"], False, offline["seconds"])  # noqa: FBT003
    raise LanewrightError(
        f"lane {lock.lane}: no run of tree {lock.tree[:12]} passed on this machine, to compare with",
        hint=f"lanewright boot --equal {quoted(lock.lane)}",
    )
