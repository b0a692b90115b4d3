"""The history's file, ``history.sqlite`` in the state folder, opened for one command."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from expert_bank.file_calls import file_system
from lanewright.errors import LanewrightError
from lanewright.history.migrations import making_anew, migrate
from lanewright.places import Places

FILE = "history.sqlite"
MAGIC = b"SQLite format 3\0"
# Seconds that a writer waits for another; each holds the file for one night or run at a time.
BUSY = 60.0
# STRICT tables.
OLDEST = (3, 37, 0)
# File systems that several hosts may share, by their numbers in ``statfs``: SQLite's write-ahead log
# is memory that processes of one host share.
SHARED = frozenset(
    {
        0x6969,  # nfs
        0x517B,  # smb
        0xFF534D42,  # cifs
        0xFE534D42,  # smb2
        0x01021997,  # 9p
        0x65735546,  # fuse
        0x0BD00BD0,  # lustre
        0x47504653,  # gpfs
        0x00C36400,  # ceph
        0x5346414F,  # afs
        0x01161970,  # gfs2
        0x7461636F,  # ocfs2
    }
)


@contextmanager
def opened(places: Places) -> Iterator[sqlite3.Connection]:
    """The history, in this lanewright's form; made where there is none.

    Transactions are the block's own: ``transactions.reading`` and ``writing``.

    Raises:
        LanewrightError: The file is damaged, another program's or a later lanewright's, cannot be
            read or written, or another process holds it too long.
        OSError: The state folder cannot be made.
    """
    if sqlite3.sqlite_version_info < OLDEST:
        raise LanewrightError(
            f"the history needs SQLite 3.37, and this Python has {sqlite3.sqlite_version}",
            hint="run lanewright with a Python that has a newer one",
        )
    file = places.state / FILE
    places.state.mkdir(parents=True, exist_ok=True)
    _require_none_other(file)
    try:
        connection = sqlite3.connect(file, timeout=BUSY, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            migrate(connection, file)
            _choose_journal(connection, shared=_is_shared(places.state))
            yield connection
        finally:
            connection.close()
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # a bug here, whatever the file holds
    except sqlite3.DatabaseError as error:
        raise _told(error, file) from error


def _require_none_other(file: Path) -> None:
    """Refuse what SQLite would take for nothing, and write over: a file that is shorter than a page.

    Raises:
        LanewrightError: It is no database.
    """
    if not file.is_file():
        return
    with file.open("rb") as stream:
        head = stream.read(len(MAGIC))
    # All zero while another process makes it.
    if head.strip(b"\0") and not MAGIC.startswith(head):
        raise LanewrightError(f"{file} is no database", hint=making_anew(file))


def _choose_journal(connection: sqlite3.Connection, *, shared: bool) -> None:
    """Readers and a writer beside each other, where the file system can."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    wanted = "delete" if shared else "wal"
    if mode != wanted:
        # Where another process is at it, or this file system cannot, the other journal does as well.
        with suppress(sqlite3.OperationalError):
            connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()


def _is_shared(folder: Path) -> bool:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return file_system(descriptor) in SHARED
    finally:
        os.close(descriptor)


def _told(error: sqlite3.DatabaseError, file: Path) -> LanewrightError:
    # The lower byte of an extended code is the plain one.
    match (getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_ERROR) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LanewrightError(
                f"{file} is held by another process for more than {BUSY:.0f} s",
                hint="wait for it to end, then the same again",
            )
        case sqlite3.SQLITE_FULL:
            return LanewrightError(
                f"{file} cannot grow: {error}",
                hint="free room on its disk",
            )
        case (
            sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_CANTOPEN
            | sqlite3.SQLITE_PERM
            | sqlite3.SQLITE_IOERR
        ):
            return LanewrightError(
                f"{file} cannot be read and written: {error}",
                hint="mend its permissions, or name another folder in LANEWRIGHT_STATE",
            )
        case sqlite3.SQLITE_NOTADB:
            return LanewrightError(f"{file} is no database", hint=making_anew(file))
        case _:
            return LanewrightError(f"{file} is damaged: {error}", hint=making_anew(file))
