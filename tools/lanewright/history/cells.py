"""JSON in the history's rows, which anybody may have edited."""

import sqlite3
from typing import TypeVar

import msgspec

T = TypeVar("T")


def read_cell(row: sqlite3.Row, name: str, kind: type[T]) -> T:
    """Read a column that holds JSON.

    Raises:
        sqlite3.DatabaseError: It does not hold that.
    """
    try:
        return msgspec.json.decode(row[name], type=kind)
    except ValueError as error:
        raise sqlite3.DatabaseError(f"{name} of a row is not what it was: {error}") from error
