# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What this process has had read from disks."""

import re
from pathlib import Path

from expert_bank.proc import text_of

READ = re.compile(r"^read_bytes: (\d{1,20})$", re.ASCII | re.MULTILINE)


def read_bytes(*, root: Path = Path("/")) -> int:
    """Read the kernel's count, of all threads; 0 where it does not tell.

    File systems that read over a network, or from a host, do not all count.
    """
    found = READ.search(text_of(root / "proc/self/io") or "")
    return int(found[1]) if found else 0
