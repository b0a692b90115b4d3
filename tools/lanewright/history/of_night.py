"""A night's rows."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lanewright.history.counting import commits_behind, conflicts, reported
from lanewright.history.forms import Pull, Status
from lanewright.history.reading_files import DamagedError, decoded, read_file
from lanewright.nightly.night import Night
from lanewright.places import Places
from lanewright.terminal import say

STATUS = "status"


def read_night_of(folder: Path, content: bytes) -> Night:
    """Read ``night.json``.

    Raises:
        DamagedError: It is none of this lanewright's, or another folder's.
    """
    night = decoded(content, Night)
    if night.name != folder.name:
        raise DamagedError(f"it is night {night.name!r}'s")
    return night


def put_night(
    connection: sqlite3.Connection,
    places: Places,
    folder: Path,
    content: bytes,
    stamp: str,
    digest: str,
) -> None:
    """Write a night's rows in place of those that there are; within a transaction.

    Args:
        connection: To the history.
        places: Its objects tell how far two commits of upstream's are apart.
        folder: Of the night.
        content: Of its ``night.json``.
        stamp: That file's.
        digest: That content's.

    Raises:
        DamagedError: The file is no night's.
        OverflowError: It has numbers that no night has.
    """
    night = read_night_of(folder, content)
    connection.execute("DELETE FROM nights WHERE name = ?", (night.name,))
    told = (night.name, night.started, night.finished, night.lanewright)
    connection.execute(
        "INSERT INTO nights VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?)",
        (*told, night.project, night.commit, stamp, digest),
    )
    for position, lane in enumerate(night.lanes):
        steps = [step for step in night.steps if step.lane == lane]
        behind = commits_behind(places.objects, folder, steps)
        connection.execute(
            "INSERT INTO night_lanes VALUES (?, ?, ?, ?, ?)",
            (night.name, position, lane, behind, conflicts(folder, steps)),
        )
    _put_reported(connection, folder, night)
    connection.executemany(
        "INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(night.name, position, step.name, msgspec.json.encode(step.command).decode()),
                *(step.lane, step.verdict, step.exit_code, step.started, step.seconds),
                *(step.why, step.run),
            )
            for position, step in enumerate(night.steps)
        ],
    )
    pulls = {row[:2]: row for row in _pulls(folder, night)}
    connection.executemany(
        "INSERT INTO pulls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(night.name, *row) for row in pulls.values()],
    )


def _put_reported(connection: sqlite3.Connection, folder: Path, night: Night) -> None:
    # A lane may have been asked for twice.
    for lane in dict.fromkeys(night.lanes):
        steps = [step for step in night.steps if step.lane == lane]
        connection.executemany(
            "INSERT INTO reported VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    *(night.name, lane, position, entry.name, entry.kind),
                    msgspec.json.encode(entry.hunks).decode(),
                )
                for position, entry in enumerate(reported(folder, steps))
            ],
        )


def _pulls(folder: Path, night: Night) -> Iterator[tuple[str | int | None, ...]]:
    for step in night.steps:
        if step.name == STATUS and step.exit_code == 0 and step.out:
            yield from _told_by(folder / Path(step.out).name)


def _told_by(file: Path) -> Iterator[tuple[str | int | None, ...]]:
    """Rows of the pull requests that a status told of."""
    try:
        for status in decoded(read_file(file), list[Status]):
            standing = [("watched", raw) for raw in status.watched]
            for word, raw in [("", raw) for raw in status.pulls] + standing:
                pull = decoded(bytes(raw), Pull)
                yield (
                    *(status.lane, pull.number, word or pull.place, pull.head, pull.newest),
                    *(pull.title, pull.state, pull.merged_as, pull.note, bytes(raw).decode()),
                )
    except DamagedError as error:
        say(f"{file} is passed over: {error}")
