"""Which old nights and runs stay on disk, and why."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from lanewright.history.on_disk import OnDisk, began
from lanewright.serve.record import STAMP_LENGTH

FINISHED = "*.finished.json"


def to_keep(
    connection: sqlite3.Connection, found: Sequence[OnDisk], before: datetime
) -> Iterator[tuple[OnDisk, str]]:
    """Yield those that began before a time, each with why it stays; empty where it need not.

    Args:
        connection: To the history, into which all of them were taken that can be read.
        found: All that is on disk.
        before: In any time zone.
    """
    nights = [each for each in found if each.lane is None]
    of_lane: defaultdict[str, list[OnDisk]] = defaultdict(list)
    for each in found:
        if each.lane is not None:
            of_lane[each.lane].append(each)
    yield from _nights(connection, nights, before)
    for lane, runs in of_lane.items():
        yield from _runs(connection, lane, runs, before)


def _nights(
    connection: sqlite3.Connection, nights: Sequence[OnDisk], before: datetime
) -> Iterator[tuple[OnDisk, str]]:
    rows = connection.execute("SELECT name, started, stamp FROM nights WHERE pruned IS NULL")
    known = {row["name"]: row for row in rows}
    readable = [each for each in nights if _is_known(each, known.get(each.folder.name))]
    newest = max((each.folder.name for each in readable), default="")
    for each in nights:
        if each not in readable:
            # Of what nothing is known, it is not known either how old it is.
            yield each, "it holds no night that can be read"
            continue
        started = _time(known[each.folder.name]["started"])
        if started is None:
            yield each, "it does not tell when it began"
        elif started < before:
            why = "it is the newest night" if each.folder.name >= newest else ""
            yield each, why or _never(each)


def _runs(
    connection: sqlite3.Connection, lane: str, runs: Sequence[OnDisk], before: datetime
) -> Iterator[tuple[OnDisk, str]]:
    rows = connection.execute(
        "SELECT folder, verdict, stamp FROM runs WHERE lane = ? AND pruned IS NULL", (lane,)
    )
    known = {row["folder"]: row for row in rows}
    readable = [each for each in runs if _is_known(each, known.get(each.folder.name))]
    passed = [each for each in readable if known[each.folder.name]["verdict"] == "passed"]
    named = [each for each in runs if began(each)]
    whys = {
        "it is the lane's newest run": _newest(named) | _newest(readable),
        "it is the newest that passed": _newest(passed),
    }
    for each in runs:
        started = began(each)
        if started is None:
            yield each, "it has no name of a run"
        elif started < before:
            unread = each.stamp() is not None and each not in readable
            damaged = "its record cannot be read" if unread else ""
            why = next((why for why, names in whys.items() if each in names), "")
            yield each, why or damaged or _never(each)


def _newest(runs: Sequence[OnDisk]) -> set[OnDisk]:
    """The runs of the last second that has any: which of them is the newer cannot be told."""
    last = max((run.folder.name[:STAMP_LENGTH] for run in runs), default="")
    return {run for run in runs if run.folder.name.startswith(last)}


def _is_known(each: OnDisk, row: sqlite3.Row | None) -> bool:
    return row is not None and row["stamp"] == each.stamp()


def _never(each: OnDisk) -> str:
    """Why a folder stays, however old and whatever it came to."""
    if each.linked:
        return "a link leads there"
    if any(each.folder.rglob(FINISHED)):
        return "it holds finished arms of a comparison that `--resume` may take"
    return ""


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
