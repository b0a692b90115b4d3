# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""What the control groups of this process leave it of memory, in version 1 and 2."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from expert_bank.proc import number_of, text_of

# Version 1 has no word for "no limit", only the largest count of whole pages.
UNLIMITED = 2**62


@dataclass(frozen=True)
class Files:
    """What one version calls its files.

    Attributes:
        limit: Holds the limit in bytes.
        usage: Holds the bytes in use, file cache among them.
        cache: Names in ``memory.stat`` of file cache, which is given back when memory is short.
    """

    limit: str
    usage: str
    cache: tuple[str, ...]


V1 = Files(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_active_file", "total_inactive_file")
)
V2 = Files("memory.max", "memory.current", ("active_file", "inactive_file"))


@dataclass(frozen=True)
class Limit:
    """A group with a limit, in bytes.

    Attributes:
        name: The file that holds the limit.
        limit: What the group may use.
        used: What it does use.
        cache: How much of that is file cache.
    """

    name: str
    limit: int
    used: int
    cache: int


def limits(*, root: Path = Path("/")) -> tuple[Limit, ...]:
    """List the limits on this process: of its group and of each that it is in."""
    found = {}
    for mount, inner, files in _groups(root):
        top = root / mount.lstrip("/")
        folder = top / inner
        for each in (folder, *folder.parents):
            if (limit := _limit(each, files, root)) is not None:
                found[limit.name] = limit
            if each == top:
                break
    return tuple(found.values())


def _limit(folder: Path, files: Files, root: Path) -> Limit | None:
    limit, used = number_of(folder / files.limit), number_of(folder / files.usage)
    if limit is None or limit >= UNLIMITED or used is None:
        return None
    stat = dict(re.findall(r"^(\w+) (\d+)$", text_of(folder / "memory.stat") or "", re.MULTILINE))
    cache = sum(int(stat.get(name, 0)) for name in files.cache)
    name = "/" + str((folder / files.limit).relative_to(root))
    # A group's figures are read one after the other: of what is used no more can be cache.
    return Limit(name, limit, used, min(cache, used))


def _groups(root: Path) -> Iterator[tuple[str, str, Files]]:
    """Yield where a hierarchy is mounted, the folder below it, and its files' names."""
    mounts = list(_mounts(text_of(root / "proc/self/mountinfo") or ""))
    for line in (text_of(root / "proc/self/cgroup") or "").split("\n"):
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        files = V1 if "memory" in controllers.split(",") else V2 if number == "0" else None
        for kind, top, mount in mounts:
            if kind == files:
                yield mount, _inside(Path(path).parts, Path(top).parts), kind


def _inside(group: Sequence[str], top: Sequence[str]) -> str:
    """Where a group is below what is mounted; at its root where a namespace hides the way."""
    seen = group[: len(top)] == top and ".." not in group
    return "/".join(group[len(top) :]) if seen else ""


def _mounts(text: str) -> Iterator[tuple[Files, str, str]]:
    """Yield for each mount of a hierarchy which of its folders is mounted, and where."""
    for line in text.split("\n"):
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if len(fields) < 6 or len(kind) < 3:  # noqa: PLR2004 - as proc(5) counts them
            continue
        top, mount = _plain(fields[3]), _plain(fields[4])
        if kind[0] == "cgroup2":
            yield V2, top, mount
        elif kind[0] == "cgroup" and "memory" in kind[2].split(","):
            yield V1, top, mount


def _plain(text: str) -> str:
    r"""Undo the kernel's ``\040`` for a blank, and the like."""
    return re.sub(r"\\([0-3][0-7]{2})", lambda code: chr(int(code[1], 8)), text)
