# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Copyright contributors to the lanewright project
"""Whose code serves the seams of the two banks: what the lane's tree says, and how often it ran."""

import json
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from expert_bank.refused import Refused

# Where rows are, how they are copied, and how the device sees those in host memory.
ROW_TABLE, ROW_COPY, HOST_ROWS = SEAMS = ("RowTable", "RowCopy", "HostRows")
# A lane may name these, too; nothing of the two banks is plugged in there.
ELSEWHERE = ("PrefillStage", "PrefetchCopy")
OWN = "own"
FILE = Path(__file__).with_name("seams.json")
MOST_BYTES = 4096
NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Chosen:
    """A pull request that serves a seam.

    Attributes:
        source: Its number, as text.
        adapter: Number of the pull request that the adapter was written for.
    """

    source: str
    adapter: str


@dataclass
class Used:
    """Whose code serves a seam here.

    Attributes:
        seam: Its name.
        source: A pull request's number, or ``own``.
        calls: How often the code that serves rows was entered, checks of ours left out.
    """

    seam: str
    source: str
    calls: int = 0

    def counted(self, call: Callable[P, T]) -> Callable[P, T]:
        """Count each entry into a function."""

        def entered(*args: P.args, **kwargs: P.kwargs) -> T:
            self.calls += 1
            return call(*args, **kwargs)

        return entered

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave out the entries of a check, which prove nothing of serving."""
        before = self.calls
        try:
            yield
        finally:
            self.calls = before

    def told(self) -> dict[str, Any]:
        """Tell it as values that JSON can carry."""
        return {"from": self.source, "calls": self.calls}


def read_seams(file: Path = FILE) -> dict[str, Chosen]:
    """Read which pull requests the lane's tree names; a seam that is not named is our own.

    Args:
        file: As the lane's build laid it; not there where all is our own.

    Raises:
        Refused: It is no such file; what is wrong is named.
    """
    try:
        status = file.lstat()
    except FileNotFoundError:
        return {}
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        raise _refused(file, f"no regular file of at most {MOST_BYTES} bytes")
    try:
        found = json.loads(file.read_bytes(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _refused(file, f"no JSON that names each seam once: {error}") from error
    if not isinstance(found, dict):
        raise _refused(file, "no object")
    return {seam: _chosen(file, seam, value) for seam, value in found.items()}


def _chosen(file: Path, seam: str, value: object) -> Chosen:
    if seam not in (*SEAMS, *ELSEWHERE):
        raise _refused(file, f"{seam!r} is no seam")
    if not isinstance(value, Mapping) or value.keys() != {"from", "adapter"}:
        raise _refused(file, f"{seam} must say `from` and `adapter`, and nothing else")
    for name, number in value.items():
        if not isinstance(number, str) or not NUMBER.fullmatch(number):
            raise _refused(file, f"{seam}: {name} is no number of a pull request: {number!r}")
    return Chosen(value["from"], value["adapter"])


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _refused(file: Path, why: str) -> Refused:
    return Refused(
        f"{file}: {why}", hint="the lane's build makes this file from [seams]; build the lane again"
    )
