"""A run's rows."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lanewright.history.forms import Boot, Equality, Proof, Record
from lanewright.history.measured import Measured, arms_of, boots_of
from lanewright.history.reading_files import DamagedError, decoded


def put_run(
    connection: sqlite3.Connection, lane: str, folder: Path, content: bytes, stamp: str, digest: str
) -> None:
    """Write a run's rows in place of those that there are; within a transaction.

    Raises:
        DamagedError: The file is no record, or another lane's.
    """
    record = decoded(content, Record)
    if record.lane != lane:
        raise DamagedError(f"it is of lane {record.lane!r}")
    if (record.verdict == "passed") != (record.error is None):
        raise DamagedError(f"its verdict is {record.verdict}, which does not fit its error")
    key = (lane, folder.name)
    connection.execute("DELETE FROM runs WHERE lane = ? AND folder = ?", key)
    connection.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, ?)",
        (*key, *_facts(record), stamp, digest, record.environment.hardware, record.drift),
    )
    _put_entries(connection, key, record)
    if record.equality:
        _put_equality(connection, key, record.equality)
    connection.executemany(
        "INSERT INTO proofs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(*key, position, place, proof.feature, proof.on, proof.text),
                msgspec.json.encode(proof.facts).decode(),
            )
            for position, (place, proof) in enumerate(_proofs(record))
        ],
    )
    _put_measured(connection, key, [*boots_of(record.boots), *arms_of(folder, record.equality)])


def _facts(record: Record) -> tuple[str | int | None, ...]:
    fault = record.error
    lines = fault.message.splitlines() if fault else []
    return (
        *(record.started, record.finished, record.lanewright, record.pin.ref, record.pin.commit),
        *(record.tree, record.layer.digest if record.layer else None, record.lock),
        record.model.name if record.model else None,
        record.equality.verdict if record.equality else None,
        *(record.verdict, fault.exit_code if fault else 0),
        (lines[0] if lines else "") if fault else None,
    )


def _put_entries(connection: sqlite3.Connection, key: tuple[str, str], record: Record) -> None:
    for position, entry in enumerate(record.entries):
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (*key, position, entry.name, entry.kind)
        )
        outcomes = Counter(hunk.outcome for hunk in entry.hunks)
        connection.executemany(
            "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?)",
            [(*key, position, outcome, hunks) for outcome, hunks in outcomes.items()],
        )


def _put_equality(connection: sqlite3.Connection, key: tuple[str, str], equality: Equality) -> None:
    rows = [(mode, row) for mode in equality.modes for row in mode.rows]
    connection.executemany(
        "INSERT INTO equality VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(*key, position, mode.mode, row.arm, row.role, row.equal, row.prompts),
                *(mode.verdict, row.first.index if row.first else None),
            )
            for position, (mode, row) in enumerate(rows)
        ],
    )


def _proofs(record: Record) -> Iterator[tuple[str, Proof]]:
    boots: dict[str, Boot | None] = {
        "offline": record.boots.offline,
        "server": record.boots.server,
    }
    for name, boot in boots.items():
        yield from ((name, proof) for proof in (boot.proofs if boot else ()))
    for arm, proofs in (record.equality.proofs if record.equality else {}).items():
        yield from ((arm, proof) for proof in proofs)


def _put_measured(
    connection: sqlite3.Connection, key: tuple[str, str], found: list[Measured]
) -> None:
    for each in found:
        connection.executemany(
            "INSERT INTO timings VALUES (?, ?, ?, ?, ?)",
            [(*key, each.place, what, seconds) for what, seconds in each.seconds.items()],
        )
        if (took := each.seconds.get(each.answering)) is not None:
            connection.execute(
                "INSERT INTO throughput VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*key, each.mode, each.arm, each.tokens, took, each.run or key[1], each.cores),
            )
