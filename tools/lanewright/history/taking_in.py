"""Takes what nights and runs came to into the history."""

import hashlib
import sqlite3

from lanewright.history.database import opened
from lanewright.history.of_night import put_night
from lanewright.history.of_run import put_run
from lanewright.history.on_disk import OnDisk, named_well, nights_on_disk, runs_on_disk
from lanewright.history.reading_files import DamagedError, read_file
from lanewright.history.transactions import writing
from lanewright.places import Places
from lanewright.terminal import say


def take_in(places: Places) -> int:
    """Take in every night and run that is new, or was written again; tell the damaged ones.

    What is there already stays as it is, so this may be called at any time, by several at once.

    Returns:
        How many were taken in.

    Raises:
        LanewrightError: The history's own file cannot be used.
        OSError: The state folder cannot be read.
    """
    with opened(places) as connection:
        return take_in_all(connection, places)


def take_in_all(connection: sqlite3.Connection, places: Places) -> int:
    """The same into a history that is open.

    Raises:
        sqlite3.Error: It cannot be written.
        OSError: The state folder cannot be read.
    """
    known = _known(connection)
    taken = 0
    for found in (*nights_on_disk(places), *runs_on_disk(places)):
        stamp = found.stamp()
        if stamp is None or known.get(found.key) == stamp:
            continue
        try:
            taken += _take(connection, places, found)
        except (DamagedError, OverflowError, sqlite3.IntegrityError, sqlite3.DataError) as error:
            # It may have been removed since it was looked for.
            if found.stamp() is not None:
                say(f"{found.file} is passed over: {error}")
    return taken


def _known(connection: sqlite3.Connection) -> dict[tuple[str, ...], str]:
    """Stamps of what was taken in, by key; not of what was pruned, which is back if it is there."""
    nights = connection.execute("SELECT name, stamp FROM nights WHERE pruned IS NULL")
    runs = connection.execute("SELECT lane, folder, stamp FROM runs WHERE pruned IS NULL")
    return {tuple(key): stamp for *key, stamp in (*nights, *runs)}


def _take(connection: sqlite3.Connection, places: Places, found: OnDisk) -> bool:
    """Take one in; tell whether there was anything new.

    Read while no other can write: what is older would come to stand in place of what is newer.
    """
    where = "runs WHERE lane = ? AND folder = ?" if found.lane else "nights WHERE name = ?"
    table, _, matching = where.partition(" ")
    if not named_well(found):
        raise DamagedError("its folder has no name of a night or run")
    with writing(connection):
        stamp = found.stamp()
        if stamp is None:
            return False
        content = read_file(found.file)
        digest = hashlib.sha256(content).hexdigest()
        row = connection.execute(f"SELECT digest FROM {where}", found.key).fetchone()  # noqa: S608
        if row and row["digest"] == digest:
            change = f"UPDATE {table} SET stamp = ?, pruned = NULL {matching}"  # noqa: S608
            connection.execute(change, (stamp, *found.key))
            return False
        if found.lane is None:
            put_night(connection, places, found.folder, content, stamp, digest)
        else:
            put_run(connection, found.lane, found.folder, content, stamp, digest)
    return True
