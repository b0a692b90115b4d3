"""Reads runs back from the history."""

import sqlite3
from collections import defaultdict

from lanewright.history.cells import read_cell
from lanewright.history.past import (
    PastEntry,
    PastMode,
    PastProof,
    PastRow,
    PastRun,
    PastTiming,
)
from lanewright.history.speeds import read_speeds

RUN = (
    "lane, folder, started, finished, lanewright, pin_ref, pin_commit, tree, layer, lock, model,"
    " equality, verdict, exit_code, error, pruned, hardware, drift"
)
KEY = "WHERE lane = ? AND run = ?"
Key = tuple[str, str]


def run_of(connection: sqlite3.Connection, lane: str, folder: str) -> PastRun | None:
    """Read one run; None where the history has none of that name."""
    where = f"SELECT {RUN} FROM runs WHERE lane = ? AND folder = ?"  # noqa: S608
    row = connection.execute(where, (lane, folder)).fetchone()
    return _whole(connection, row) if row else None


def all_runs(connection: sqlite3.Connection, lane: str | None) -> list[PastRun]:
    """Read the runs of a lane, or of all, the newest first."""
    order = "ORDER BY started DESC, lane, folder DESC"
    if lane is None:
        found = connection.execute(f"SELECT {RUN} FROM runs {order}")  # noqa: S608 - no word of others
    else:
        found = connection.execute(f"SELECT {RUN} FROM runs WHERE lane = ? {order}", (lane,))  # noqa: S608
    return [_whole(connection, row) for row in found.fetchall()]


def _whole(connection: sqlite3.Connection, row: sqlite3.Row) -> PastRun:
    key = (row["lane"], row["folder"])
    throughput, bands = read_speeds(connection, row)
    return PastRun(
        **dict(row),
        entries=_entries(connection, key),
        modes=_modes(connection, key),
        proofs=_proofs(connection, key),
        timings=[
            PastTiming(*found)
            for found in connection.execute(
                f"SELECT place, what, seconds FROM timings {KEY} ORDER BY place, what",  # noqa: S608
                key,
            )
        ],
        throughput=throughput,
        bands=bands,
    )


def _entries(connection: sqlite3.Connection, key: Key) -> list[PastEntry]:
    hunks: defaultdict[int, dict[str, int]] = defaultdict(dict)
    outcomes = connection.execute(f"SELECT * FROM outcomes {KEY} ORDER BY entry, outcome", key)  # noqa: S608
    for row in outcomes:
        hunks[row["entry"]][row["outcome"]] = row["hunks"]
    found = connection.execute(f"SELECT * FROM entries {KEY} ORDER BY position", key)  # noqa: S608
    return [PastEntry(row["name"], row["kind"], hunks[row["position"]]) for row in found]


def _modes(connection: sqlite3.Connection, key: Key) -> list[PastMode]:
    rows: defaultdict[tuple[str, str], list[PastRow]] = defaultdict(list)
    for row in connection.execute(f"SELECT * FROM equality {KEY} ORDER BY position", key):  # noqa: S608
        told = PastRow(row["arm"], row["role"], row["equal"], row["prompts"], row["first"])
        rows[row["mode"], row["verdict"]].append(told)
    return [PastMode(mode, verdict, of) for (mode, verdict), of in rows.items()]


def _proofs(connection: sqlite3.Connection, key: Key) -> list[PastProof]:
    found = connection.execute(f"SELECT * FROM proofs {KEY} ORDER BY position", key)  # noqa: S608
    return [
        PastProof(row["place"], row["feature"], bool(row["on"]), row["text"], facts)
        for row in found
        for facts in [read_cell(row, "facts", dict[str, int])]
    ]
