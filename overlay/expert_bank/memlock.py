# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""How much memory a process may lock, and how much it has."""

import resource
from dataclasses import dataclass
from pathlib import Path

from expert_bank.proc import sizes_of, text_of
from expert_bank.refused import Refused
from expert_bank.sizes import told


@dataclass(frozen=True)
class Memlock:
    """The limit and what counts against it, in bytes.

    Attributes:
        limit: ``RLIMIT_MEMLOCK``; None where there is none.
        locked: By ``mlock``.
        pinned: For devices.
    """

    limit: int | None
    locked: int
    pinned: int

    def refusal(self, needed: int, what: str = "pinned") -> Refused | None:
        """Refuse what is too much for the limit; None where the limit is not why it failed.

        Args:
            needed: Bytes that were to be pinned, or locked, on top.
            what: Which of the two.
        """
        if self.limit is None or needed + self.locked + self.pinned <= self.limit:
            return None
        over = needed + self.locked + self.pinned - self.limit
        return Refused(
            f"host memory cannot be {what}: {told(needed)} needed + {told(self.locked)} locked "
            f"+ {told(self.pinned)} pinned - {told(self.limit)} allowed (RLIMIT_MEMLOCK) "
            f"= {told(over)} too much",
            hint="start the container with --ulimit memlock=-1, or raise `ulimit -l`",
        )


def memlock(*, root: Path = Path("/")) -> Memlock:
    """Read this process's limit and what counts against it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    found = sizes_of(text_of(root / "proc/self/status") or "")
    return Memlock(
        None if limit == resource.RLIM_INFINITY else limit,
        found.get("VmLck", 0),
        found.get("VmPin", 0),
    )
