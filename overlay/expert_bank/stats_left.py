# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What processes that were killed left beside a stats file."""

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

from expert_bank.writer import may_have_written

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
            if each.name.startswith(prefix) and _PID.fullmatch(pid):
                with suppress(OSError):
                    found = each.lstat()
                    if _old_and_ours(found) and not may_have_written(int(pid), found.st_mtime):
                        each.unlink()


def _old_and_ours(found: os.stat_result) -> bool:
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_uid == os.geteuid()
        and time.time() - found.st_mtime > WRITING
    )
