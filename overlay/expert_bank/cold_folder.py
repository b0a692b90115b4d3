# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Where the file of the cold rows lies: in a folder on a disk, under no name."""

import os
import tempfile
from pathlib import Path

from expert_bank import file_calls
from expert_bank.refused import Refused
from expert_bank.sizes import told

FOLDER = "EXPERT_BANK_FOLDER"
# For large files that are to be on a disk; where temporary files go is memory on many machines.
USUAL = Path("/var/tmp")  # noqa: S108 - the file gets no name there
# Whose files are memory, by their numbers in ``statfs``.
IN_MEMORY = {0x0102_1994: "tmpfs", 0x8584_58F6: "ramfs", 0x9584_58F6: "hugetlbfs"}
ELSEWHERE = f"name a folder on a disk that has room in {FOLDER}"


def open_unnamed(folder: Path) -> int:
    """Open a file that is gone once nobody has it open, however this process ends.

    Returns:
        Its descriptor, which is the caller's to close.

    Raises:
        Refused: The folder takes no file, or its files are memory: a cold row would cost nothing.
    """
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            kind = IN_MEMORY.get(file_calls.file_system(file.fileno()))
            if kind is None:
                return os.dup(file.fileno())
    except OSError as error:
        raise Refused(
            f"moe_cold_rows file: {folder} takes no file: {error.strerror}", hint=ELSEWHERE
        ) from None
    raise Refused(
        f"moe_cold_rows file: {folder} is on a {kind}, whose files are memory: a cold row there"
        " would cost what a hot one does",
        hint=ELSEWHERE,
    )


def refused(folder: Path, length: int, error: OSError) -> Refused:
    """Say that a folder does not take so many bytes."""
    return Refused(
        f"moe_cold_rows file: {folder} does not take a file of {told(length)}: {error.strerror}",
        hint=f"{ELSEWHERE}; see `df -h {folder}`, `ulimit -f` and quotas",
    )
