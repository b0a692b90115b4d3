"""Brings the history's file to the form that this lanewright reads, one form at a time."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.history.tables import FIRST, FOURTH, SECOND, THIRD
from lanewright.history.transactions import reading, writing
from lanewright.terminal import quoted

# "lane": tells the history from other programs' databases.
APPLICATION = 0x6C616E65
MIGRATIONS: tuple[tuple[str, ...], ...] = (FIRST, SECOND, THIRD, FOURTH)


def migrate(
    connection: sqlite3.Connection, file: Path, migrations: Sequence[Sequence[str]] = MIGRATIONS
) -> None:
    """Apply the migrations that the file lacks, each whole or not at all.

    Args:
        connection: To the file.
        file: For messages.
        migrations: Statements that make each form of the one before; the first makes it of nothing.

    Raises:
        LanewrightError: It is of a later lanewright, or another program's.
        sqlite3.Error: It is no database, or cannot be written.
    """
    last = len(migrations)
    with reading(connection):
        form = _form(connection, file, last)
    while form < last:
        with writing(connection):
            # Another process may have come here first.
            form = _form(connection, file, last)
            if form < last:
                for statement in migrations[form]:
                    connection.execute(statement)
                form += 1
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {form}")


def _form(connection: sqlite3.Connection, file: Path, last: int) -> int:
    """The number of the file's form; 0 for an empty one. Called within a transaction."""
    (form,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != APPLICATION and (form or application or tables):
        raise LanewrightError(
            f"{file} is a database of another program, not lanewright's history",
            hint=making_anew(file),
        )
    if form > last:
        raise LanewrightError(
            f"{file} is of a later lanewright: its form is {form}, and this one reads up to {last}",
            hint="install that lanewright again, or name another folder in LANEWRIGHT_STATE",
        )
    return int(form)


def making_anew(file: Path) -> str:
    """What to do with a file that cannot be read; it is never removed here."""
    away = quoted(file.with_name(f"{file.name}.away"))
    return (
        f"mv {quoted(file)} {away}, then `lanewright history`, which makes it anew from the nights"
        " and runs that are still on disk"
    )
