"""Removes old nights and runs from disk; what they came to stays in the history."""

import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from lanewright.history.database import opened
from lanewright.history.keeping import to_keep
from lanewright.history.on_disk import OnDisk, nights_on_disk, runs_on_disk
from lanewright.history.taking_in import take_in_all
from lanewright.history.transactions import writing
from lanewright.places import Places
from lanewright.store.locking import held
from lanewright.store.scratch import clear_dead, discard, own_prefix
from lanewright.terminal import say

LOCK = "history.lock"


class Removed(msgspec.Struct, frozen=True):
    """A folder that was removed: its place below the state folder, and its files' size in bytes."""

    folder: str
    bytes: int


class Kept(msgspec.Struct, frozen=True):
    """A folder that is old enough to be removed, and why it was not."""

    folder: str
    why: str


class Pruned(msgspec.Struct, frozen=True):
    """What a pruning came to; ``bytes`` is of all that was removed."""

    removed: list[Removed]
    bytes: int
    kept: list[Kept]


def prune(places: Places, days: int, *, now: datetime | None = None) -> Pruned:
    """Remove nights and runs that began more than so many days ago, each at once or not at all.

    Args:
        places: Where the state is.
        days: 1 or more.
        now: When, by default now.

    Raises:
        LanewrightError: The history's own file cannot be used; nothing was removed since.
        OSError: A folder cannot be moved; it stays.
    """
    moment = now or datetime.now(UTC)
    removed: list[Removed] = []
    kept: list[Kept] = []
    with opened(places) as connection, held(places.state / LOCK, "prunes the history"):
        take_in_all(connection, places)
        found = [*nights_on_disk(places), *runs_on_disk(places)]
        for parent in {each.folder.parent for each in found if not each.linked}:
            clear_dead(parent)
        whys = dict(to_keep(connection, found, moment - timedelta(days=days)))
        for each in found:
            place = str(each.folder.relative_to(places.state))
            if each not in whys:
                continue
            if why := whys[each]:
                kept.append(Kept(place, why))
            else:
                removed.append(Removed(place, _remove(connection, each, moment)))
    return Pruned(removed, sum(each.bytes for each in removed), kept)


def _remove(connection: sqlite3.Connection, found: OnDisk, moment: datetime) -> int:
    """Remove a folder; the bytes of its files.

    It is marked first: what is marked and still there is unmarked when it is next taken in.
    """
    size = sum(_sizes(found.folder))
    where = "runs SET pruned = ? WHERE lane = ? AND folder = ?"
    change = where if found.lane else "nights SET pruned = ? WHERE name = ?"
    with writing(connection):
        told = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        connection.execute(f"UPDATE {change}", (told, *found.key))
    discard(found.folder)
    for left in found.folder.parent.glob(f"{own_prefix()}*"):
        say(f"{found.folder} is gone, but files of it cannot be removed: they are in {left}")
    return size


def _sizes(folder: Path) -> Iterator[int]:
    for root, _, files in os.walk(folder):
        for name in files:
            yield Path(root, name).lstat().st_size
