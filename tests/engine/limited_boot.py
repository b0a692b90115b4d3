"""Boots one engine, in a memory group or in none, and tells how it ended."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewright.serve.boot import engine_arguments
from lanewright.serve.child import watch
from tests.engine.lane_python import SECONDS, Laid
from tests.engine.memory_group import MemoryGroup


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what the kernel told of its group then.

    Attributes:
        status: Of its end, 128 + N where signal N ended it.
        log: All that it said.
        told: What ``inside/limited_answers.py`` wrote; empty where it came to no answer.
        reached: Whether the group's limit was.
        killed: Processes of the group that the kernel killed for memory.
    """

    status: int
    log: str
    told: Mapping[str, Any]
    reached: bool
    killed: int


def boot(
    laid: Laid, spec: Mapping[str, Any], *, folder: Path, group: MemoryGroup | None = None
) -> Ended:
    """Have one engine answer.

    Args:
        laid: Its lane and its model.
        spec: What ``inside/limited_answers.py`` is to do, less what is known here.
        folder: For its files; made.
        group: That it is to be in.
    """
    folder.mkdir()
    result, spec_file = folder / "result.json", folder / "spec.json"
    whole = {
        **spec,
        "model": str(laid.model),
        "engine": engine_arguments(laid.lane.env, spec["engine"], "cpu"),
        "result": str(result),
        "members": str(group.members) if group else None,
    }
    spec_file.write_text(json.dumps(whole))
    forget(laid.model)
    with laid.started("limited_answers.py", str(spec_file), folder=folder) as running:
        status = watch(running, seconds=SECONDS)
    assert status is not None
    told = json.loads(result.read_text()) if result.exists() else {}
    log = running.log.read_text(errors="replace")
    counts = (group.reached, group.killed) if group else (False, 0)
    print(folder.name, status, *counts, told.get("anonymous"), told.get("ids"))  # noqa: T201
    return Ended(status, log, told, *counts)


def forget(model: Path) -> None:
    """Take the weights out of the file cache: whoever reads them next has them counted as its own."""
    with (model / "model.safetensors").open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
