"""A control group whose memory is limited, of version 1 or 2, and what the kernel tells of it.

There is no swap beside the limit. Whoever asks needs the right to make a group, as root has it.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from expert_bank.cgroup import V1, V2, Files, _groups

SECONDS = 10.0
# More than the kernel asks for at once.
CHARGE = 2**21


class NoGroupError(Exception):
    """No group can be made here; says why for each hierarchy."""


@dataclass(frozen=True)
class Names:
    """What one version calls its files, and the keys in them; see ``MemoryGroup``."""

    swap: str
    reached: tuple[str, str]
    killed: tuple[str, str]


# Version 1 limits memory and swap as one sum, version 2 each by itself.
NAMES: Mapping[Files, Names] = {
    V1: Names(
        "memory.memsw.limit_in_bytes",
        # Bytes; ``memory.failcnt`` stays 0 on some kernels.
        ("memory.max_usage_in_bytes", ""),
        ("memory.oom_control", "oom_kill"),
    ),
    V2: Names("memory.swap.max", ("memory.events", "max"), ("memory.events", "oom_kill")),
}


@dataclass(frozen=True)
class MemoryGroup:
    """A group that one process joins by writing its number to ``members``.

    Attributes:
        folder: Of the kernel's files.
        limit: Bytes of memory and swap.
        files: Whose version it is.
    """

    folder: Path
    limit: int
    files: Files

    @property
    def members(self) -> Path:
        """Lists the processes; those that they start are in the group too."""
        return self.folder / "cgroup.procs"

    @property
    def reached(self) -> bool:
        """Whether the limit was reached, so that the kernel had to find memory in the group."""
        least = self.limit - CHARGE if self.files == V1 else 1
        return self._count(*NAMES[self.files].reached) >= least

    @property
    def killed(self) -> int:
        """How many processes the kernel killed for memory."""
        return self._count(*NAMES[self.files].killed)

    def _count(self, file: str, key: str) -> int:
        lines = (line.split() for line in (self.folder / file).read_text().splitlines())
        return next(int(line[-1]) for line in lines if key in ("", line[0]))


@contextmanager
def limited(name: str, limit: int) -> Iterator[MemoryGroup]:
    """Make a group, and remove it behind the block, by when its processes must have ended.

    Args:
        name: Of its folder.
        limit: Bytes of memory and swap.

    Raises:
        NoGroupError: None can be made here.
    """
    group = _made(name, limit)
    try:
        yield group
    finally:
        _remove(group.folder)


def _made(name: str, limit: int) -> MemoryGroup:
    missing = []
    for mount, inner, files in _groups(Path("/")):
        try:
            folder = _parent(Path(mount), inner, files) / name
            folder.mkdir()
        except OSError as error:
            missing.append(f"{mount}: {error}")
            continue
        try:
            (folder / files.limit).write_text(str(limit))
            _without_swap(folder, files, limit)
        except OSError as error:
            _remove(folder)
            missing.append(f"{mount}: {error}")
            continue
        return MemoryGroup(folder, limit, files)
    raise NoGroupError("; ".join(missing) or "no hierarchy of control groups is mounted")


def _parent(mount: Path, inner: str, files: Files) -> Path:
    """Find the group in which one can be made whose memory is counted.

    Raises:
        FileNotFoundError: There is none.
    """
    folder = mount / inner
    if files == V1:
        return folder
    # A group of version 2 that has processes gives its own children no controller.
    for each in (folder, *folder.parents[: len(Path(inner).parts)]):
        if "memory" in (each / "cgroup.subtree_control").read_text().split():
            return each
    raise FileNotFoundError(f"no group from {folder} up has memory in cgroup.subtree_control")


def _without_swap(folder: Path, files: Files, limit: int) -> None:
    """Leave no swap beside the limit; a kernel that does not count swap must have none."""
    swap = folder / NAMES[files].swap
    if swap.exists():
        swap.write_text(str(limit if files == V1 else 0))
    elif len(Path("/proc/swaps").read_text().splitlines()) > 1:
        raise FileNotFoundError(f"this machine has swap, and the kernel no {swap.name}")


def _remove(folder: Path) -> None:
    """Remove an empty group; what was killed for memory leaves it a moment later."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            folder.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
