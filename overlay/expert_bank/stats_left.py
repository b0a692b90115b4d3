# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What processes that were killed left beside a stats file."""

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

# A write takes milliseconds. A process of another container is not seen here, and may be at one.
WRITING = 10.0
_PID = re.compile(r"[1-9][0-9]{0,6}", re.ASCII)


def beside(path: Path, pid: int) -> Path:
    """Where a process writes a stats file before it takes its place."""
    return path.with_name(f".{path.name}.{pid}")


def remove_left(path: Path) -> None:
    """Remove what writers of this file that are gone left half-written, if it is this user's.

    Args:
        path: The stats file; need not be there.
    """
    prefix = beside(path, 0).name.removesuffix("0")
    with suppress(OSError):
        for each in path.parent.iterdir():
            pid = each.name.removeprefix(prefix)
            if each.name.startswith(prefix) and _PID.fullmatch(pid) and not alive(int(pid)):
                with suppress(OSError):
                    if _old_and_ours(each.lstat()):
                        each.unlink()


def alive(pid: int) -> bool:
    """Whether there is such a process, anybody's."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    # 0 is the caller's own group to the kernel.
    return pid > 0


def _old_and_ours(found: os.stat_result) -> bool:
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_uid == os.geteuid()
        and time.time() - found.st_mtime > WRITING
    )
