"""Transactions of SQLite, whole or not at all."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[None]:
    """One state of the file for all that is read in the block.

    Raises:
        sqlite3.Error: It cannot be read.
    """
    with _begun(connection, "BEGIN"):
        yield


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """The one writer for as long as the block takes; what it wrote is on disk once that has ended.

    The lock is taken first: two readers that both went on to write would wait for each other.

    Raises:
        sqlite3.Error: It cannot be written; nothing of the block stays.
    """
    with _begun(connection, "BEGIN IMMEDIATE"):
        yield


@contextmanager
def _begun(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
