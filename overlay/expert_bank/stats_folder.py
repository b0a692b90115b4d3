# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""A folder in which each server has a stats file of its own, and a file that two servers write.

The standard library alone.
"""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from expert_bank.refused import Refused
from expert_bank.stats_file import read_stats, remove_stats
from expert_bank.stats_left import remove_left
from expert_bank.writer import is_there

# Seconds that the last stats of a server stay which is gone, or of another container.
KEPT = 24 * 60 * 60.0
# A server's name, as ``glue.metrics`` makes one up; of a file or of its half.
_NAMED = re.compile(r"\.?([0-9a-f]{16})\.json(\.[0-9]+)?", re.ASCII)


def file_of(folder: Path, server: str) -> Path:
    """Where in a folder a server's stats are."""
    return folder / f"{server}.json"


def all_stats(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield every stats file of a folder that can be read, by name, and what it holds.

    Raises:
        OSError: The folder cannot be read.
    """
    for path in sorted(folder.glob("*.json")):
        with suppress(Refused):
            yield path, read_stats(path)


def remove_old(path: Path) -> None:
    """Remove what servers left, long gone, in the folder that a server's file is in.

    A server in another PID namespace is not seen to run. If it has told nothing for ``KEPT``, for it
    served nothing, its file goes too, and is there again with its next look (``stats.look_every``
    forwards at most, or ``expert_bank_stats``).

    Args:
        path: The server's own file; in a place that is no such folder nothing is removed but what
            killed writers of this very file left.
    """
    remove_left(path)
    if not _NAMED.fullmatch(path.name):
        return
    with suppress(OSError):
        for name in {
            each[1] for file in path.parent.iterdir() if (each := _NAMED.fullmatch(file.name))
        }:
            other = file_of(path.parent, name)
            remove_left(other)
            with suppress(OSError, Refused):
                stats = read_stats(other)
                old = time.time() - other.lstat().st_mtime > KEPT
                if old and stats["server"] == name and not is_there(stats):
                    remove_stats(other)


def other_writer(path: Path) -> int | None:
    """Tell another process that runs and writes this very file; None where none is seen.

    It is another server's worker, or one of this server, of which there should be no other: a data
    parallel engine's, or that of a server which shares its name.
    """
    try:
        stats = read_stats(path)
    except Refused:
        return None
    pid: int = stats["pid"]
    return pid if pid != os.getpid() and is_there(stats) else None
