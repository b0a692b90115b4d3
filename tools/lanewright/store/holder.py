"""Who holds a lock, for those who wait: told beside its file, and believed only where it fits."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec

from lanewright.store.atomic import replace_file
from lanewright.store.regular import read_regular
from lanewright.store.scratch import HOST

# One of ours has a few hundred bytes.
MOST_BYTES = 4096
LANES = r"\A([a-z0-9-]{1,100}(, [a-z0-9-]{1,100})*)?\Z"
START_TIME = 19  # of /proc/PID/stat, counted behind the program's name


class _Holder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who holds a lock.

    Attributes:
        lane: The lane that it is held for, or several; empty where it is for none.
        pid: The process.
        start: When that started, in clock ticks since the machine did: its number alone may be
            another's by now.
        host: The machine on which that is its number.
        since: When it took the lock.
    """

    lane: Annotated[str, msgspec.Meta(pattern=LANES)]
    pid: Annotated[int, msgspec.Meta(ge=1)]
    start: int
    host: str
    since: datetime


@contextmanager
def told_beside(lock: Path, lane: str) -> Iterator[None]:
    """Tell beside a lock that this process holds it, and for which lanes, as long as it does.

    Where that cannot be written nobody is told, and nothing fails.
    """
    file, pid = _beside(lock), os.getpid()
    try:
        with suppress(OSError):
            holder = _Holder(lane, pid, _start_of(pid) or 0, HOST, datetime.now(UTC))
            content = msgspec.json.encode(holder) + b"\n"
            replace_file(file, content, scratch=file.with_name(f"{file.name}.new"))
        yield
    finally:
        with suppress(OSError):
            file.unlink()


def holder_of(lock: Path) -> str:
    """Who holds a lock, for people; empty where it was not told, or cannot be by a living process."""
    try:
        holder = msgspec.json.decode(read_regular(_beside(lock), MOST_BYTES) or b"", type=_Holder)
        since = holder.since.replace(tzinfo=holder.since.tzinfo or UTC).astimezone(UTC)
    except (OSError, ValueError, OverflowError, msgspec.DecodeError):
        return ""
    if holder.host != HOST or holder.start != _start_of(holder.pid):
        return ""
    of = f"{holder.lane}, " if holder.lane else ""
    return f"{of}process {holder.pid}, since {since:%Y-%m-%d %H:%M:%S} UTC"


def _beside(lock: Path) -> Path:
    return lock.with_name(f"{lock.name}.holder")


def _start_of(pid: int) -> int | None:
    """When a process started, in clock ticks since the machine did; None where there is none."""
    try:
        told = Path("/proc", str(pid), "stat").read_bytes()
        return int(told.rpartition(b")")[2].split()[START_TIME])
    except (OSError, ValueError, IndexError):
        return None
