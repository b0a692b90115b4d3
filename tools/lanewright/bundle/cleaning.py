"""What was read of a night and its runs, without what is private, before any of it is told.

Afterwards would be too late: Markdown breaks a path at every sign that means something there.
"""

from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from lanewright.bundle.gathering import Gathered, RunFound
from lanewright.bundle.parts import LeftOut
from lanewright.bundle.private import Private
from lanewright.bundle.recorded import Facts, Recorded
from lanewright.history.forms import Record
from lanewright.nightly.night import Night
from lanewright.report.model import Report

T = TypeVar("T")


def cleaned(hidden: Private, found: Gathered) -> Gathered:
    """The same, of which only the files are still as they lie on disk."""
    return replace(
        found,
        night=clean(hidden, found.night, Night | None),
        runs=[
            RunFound(
                _clean_record(hidden, run.recorded),
                clean(hidden, run.beside, dict[str, str]),
                clean(hidden, run.autotune, list[str]),
            )
            for run in found.runs
        ],
        left_out=clean(hidden, found.left_out, list[LeftOut]),
        reports=clean(hidden, found.reports, dict[str, Report]),
    )


def _clean_record(hidden: Private, recorded: Recorded) -> Recorded:
    return replace(
        recorded,
        record=clean(hidden, recorded.record, Record | None),
        facts=clean(hidden, recorded.facts, Facts | None),
        why=clean(hidden, recorded.why, str),
    )


def clean(hidden: Private, value: T, kind: Any) -> T:  # noqa: ANN401 - a union is no type
    """A value without what is private: its JSON stays JSON, and is read back as what it was.

    Args:
        hidden: What is private.
        value: It.
        kind: Its type.
    """
    found: T = msgspec.json.decode(hidden.replaced(msgspec.json.encode(value))[0], type=kind)
    return found
