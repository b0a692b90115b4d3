# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""The process that wrote stats, told apart from a later one that has its number.

A container gives the same small numbers at each start, and a machine at each boot. The standard
library alone.
"""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROC = Path("/proc")


def started(pid: int) -> str | None:
    """Tell when a process started: the boot, and clock ticks since then, as ``proc(5)`` has them.

    No two processes of one number have it in common.

    Returns:
        Such as ``c12c60ef-b227-4949-bb8e-dcab7ef4b229:1515956``; None where it cannot be read:
        there is no such process, no ``/proc``, one that hides others' processes, one of another
        namespace of processes, or no boot's id in it.
    """
    ticks = _ticks(pid)
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return None
    return f"{boot}:{ticks}" if boot and ticks is not None else None


def is_there(stats: Mapping[str, Any]) -> bool:
    """Tell whether the process that wrote stats is there, anybody's.

    Its number and its start must be as the stats have them. Stats without a start are of an earlier
    version, or of a system that does not tell it: a process that began after they were written did
    not write them. Where this system does not tell the start, the number alone decides.

    What runs in another container, or on another machine that shares the folder, is not there: its
    number means another process here, or none. Its file is known as fresh by its age alone.

    Args:
        stats: Of ``stats_file.read_stats``.
    """
    pid, told = stats["pid"], stats.get("started")
    if told is None:
        return may_have_written(pid, stats["time"])
    return alive(pid) and started(pid) in (told, None)


def may_have_written(pid: int, written: float) -> bool:
    """Tell whether a process is there that did not begin after something was written.

    Args:
        pid: Its number.
        written: Seconds since 1970.
    """
    if not alive(pid):
        return False
    ticks = _ticks(pid)
    if ticks is None:
        return True
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - age <= written


def alive(pid: int) -> bool:
    """Whether there is a process of this number, anybody's."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    # 0 is the caller's own group to the kernel.
    return pid > 0


def _ticks(pid: int) -> int | None:
    """Clock ticks from the boot to a process's start; None where they cannot be read."""
    try:
        # In another namespace's /proc a number is another process.
        if (PROC / "self").readlink().name != str(os.getpid()):
            return None
        # A program's name may hold blanks, parentheses and any bytes.
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b") ")[2].split()
        return int(fields[19])
    except (OSError, ValueError, IndexError):
        return None
