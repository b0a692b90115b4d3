"""Reads nights back from the history."""

import sqlite3

import msgspec

from lanewright.history.cells import read_cell
from lanewright.history.changes import Before, changes
from lanewright.history.past import PastEntry, PastLane, PastNight, PastPull, PastStep
from lanewright.history.runs import run_of
from lanewright.history.verdict import DRIFT, LEFT_OUT, verdict_of

NIGHT = 'name, started, finished, lanewright, project, "commit", pruned'
STEP = "name, command, lane, verdict, exit_code, started, seconds, why, run"
PULL = "number, standing, head, newest, title, state, merged_as, note, told"


def all_nights(
    connection: sqlite3.Connection, lane: str | None, most: int | None
) -> list[PastNight]:
    """Read nights, the newest first.

    Args:
        connection: To the history.
        lane: Only nights that it was asked for in, and only its part of them.
        most: How many; None for all.
    """
    in_it = "WHERE name IN (SELECT night FROM night_lanes WHERE lane = ?)" if lane else ""
    limit = -1 if most is None else most
    found = connection.execute(
        f"SELECT {NIGHT} FROM nights {in_it} ORDER BY name DESC LIMIT ?",  # noqa: S608 - no word of others
        (lane, limit) if lane else (limit,),
    )
    return [_whole(connection, row, lane) for row in found.fetchall()]


def names_of_nights(connection: sqlite3.Connection) -> frozenset[str]:
    """Names of all nights."""
    return frozenset(row["name"] for row in connection.execute("SELECT name FROM nights"))


def _whole(connection: sqlite3.Connection, row: sqlite3.Row, only: str | None) -> PastNight:
    night = row["name"]
    rows = connection.execute(
        "SELECT lane, commits_behind, conflicts FROM night_lanes WHERE night = ? ORDER BY position",
        (night,),
    ).fetchall()
    # A lane may have been asked for twice.
    lanes = {each["lane"]: each for each in rows}
    return PastNight(
        **dict(row),
        steps=[step for step in _steps(connection, night) if step.lane is None],
        lanes=[
            _lane(connection, night, lane, row)
            for lane, row in lanes.items()
            if only is None or lane == only
        ],
    )


def _lane(connection: sqlite3.Connection, night: str, lane: str, row: sqlite3.Row) -> PastLane:
    found = _bare(connection, night, lane)
    return msgspec.structs.replace(
        found,
        commits_behind=row["commits_behind"],
        conflicts=row["conflicts"],
        changes=list(changes(found, _before(connection, night, lane))),
    )


def _bare(connection: sqlite3.Connection, night: str, lane: str) -> PastLane:
    """A lane in a night, without its numbers and what changed since the night before."""
    steps = [step for step in _steps(connection, night) if step.lane == lane]
    verdict, where = verdict_of(steps)
    names = dict.fromkeys(step.run for step in steps if step.run)
    runs = [run for name in names if (run := run_of(connection, lane, name))]
    pulls = connection.execute(
        f"SELECT {PULL} FROM pulls WHERE night = ? AND lane = ? ORDER BY number",  # noqa: S608
        (night, lane),
    )
    return PastLane(
        lane=lane,
        verdict=verdict,
        where=where,
        drift=any(step.verdict == DRIFT for step in steps),
        left_out=sum(step.verdict == LEFT_OUT for step in steps),
        commits_behind=None,
        conflicts=None,
        reported=_reported(connection, night, lane),
        steps=steps,
        runs=runs,
        pulls=[
            PastPull(**{**dict(row), "told": read_cell(row, "told", msgspec.Raw)}) for row in pulls
        ],
        changes=[],
    )


def _reported(connection: sqlite3.Connection, night: str, lane: str) -> list[PastEntry]:
    found = connection.execute(
        "SELECT name, kind, hunks FROM reported WHERE night = ? AND lane = ? ORDER BY position",
        (night, lane),
    )
    return [
        PastEntry(row["name"], row["kind"], read_cell(row, "hunks", dict[str, int]))
        for row in found
    ]


def _before(connection: sqlite3.Connection, night: str, lane: str) -> Before:
    """The lane in the night before, and in the last one before that recorded a run of it."""
    earlier = connection.execute(
        "SELECT night FROM night_lanes WHERE lane = ? AND night < ? ORDER BY night DESC LIMIT 1",
        (lane, night),
    ).fetchone()
    with_run = connection.execute(
        "SELECT night FROM steps JOIN runs ON runs.lane = steps.lane AND runs.folder = steps.run"
        " WHERE steps.lane = ? AND night < ? ORDER BY night DESC LIMIT 1",
        (lane, night),
    ).fetchone()
    return Before(
        *(
            (row["night"], _bare(connection, row["night"], lane)) if row else None
            for row in (earlier, with_run)
        )
    )


def _steps(connection: sqlite3.Connection, night: str) -> list[PastStep]:
    found = connection.execute(
        f"SELECT {STEP} FROM steps WHERE night = ? ORDER BY position",  # noqa: S608
        (night,),
    )
    return [
        PastStep(**{**dict(row), "command": read_cell(row, "command", list[str])}) for row in found
    ]
