"""The command that serves a lane from its image."""

import json
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.image.container.engine import Engine
from lanewright.queue.lock import Lock
from lanewright.queue.series import Series
from lanewright.queue.series_run import RunSpec
from lanewright.queue.series_shut import HOME
from lanewright.serve.boot import with_workers
from lanewright.serve.features import PACKAGE
from lanewright.serve.flags import flags
from lanewright.serve.named_files import require_within, root_of
from lanewright.serve.served import IN_CONTAINERS

# Where a container of ours finds what it is to read, and may write.
MODEL, SCRIPTS, OWN, WORK = IN_CONTAINERS, "/lane/scripts", "/lane/own", "/lane/work"
# Read-only, with no capability and no way to get one; what is written goes to memory or a volume.
SHUT = (
    "--read-only",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--tmpfs=/tmp:rw,exec,mode=1777",
)
# In `--volume=A:B:ro` a colon parts two paths; a line's end parts two commands where it is printed.
UNNAMED = re.compile(r"[:\x00-\x1f\x7f]")


def serving(engine: Engine, series: Series, lock: Lock, image: str, model: str | None) -> list[str]:
    """The whole command, a word each.

    Args:
        engine: What is to run it.
        series: Of the lane.
        lock: Of the lane.
        image: Its name in the engine's storage.
        model: Folder of a generated model, where the lane serves one.
    """
    run = (series.image.run if series.image else None) or RunSpec()
    place = model or run.model or series.model.name or ""
    served, mount = model_of(place)
    return [
        engine.program,
        "run",
        "--rm",
        f"--name=lane-{lock.lane}",
        *engine.machine_flags(),
        *SHUT,
        *needed(run),
        *mount,
        f"--publish=127.0.0.1:{run.port}:{run.port}",
        f"--health-cmd={health(run)}",
        f"--health-start-period={run.health_start}",
        image,
        *arguments(series, lock, served, port=run.port),
    ]


def model_of(place: str) -> tuple[str, list[str]]:
    """What to serve, and how it comes into the container: a folder is mounted, a name is not."""
    if not place.startswith("/"):
        return place, []
    return inside(Path(place)), [model_mounted(Path(place))]


def model_mounted(model: Path) -> str:
    """A flag that mounts all of a model.

    Raises:
        LanewrightError: A container would not see all of its files, or it cannot be mounted.
    """
    flag = mounted(root_of(model), MODEL)
    require_within(model, moved=True)
    return flag


def inside(model: Path) -> str:
    """Where a container has a model's folder whose root is mounted."""
    return str(Path(MODEL) / os.path.relpath(os.path.realpath(model), root_of(model)))


def needed(run: RunSpec) -> list[str]:
    """Flags for what a lane needs of its machine."""
    return [
        *(f"--device={device}" for device in run.devices),
        f"--ipc={run.ipc}" if run.ipc else f"--shm-size={run.shm_size}",
        *(f"--cap-add={capability}" for capability in run.cap_add),
        *(f"--ulimit={limit}" for limit in run.ulimits),
        *(f"--volume={name}:{place}" for place, name in run.volumes.items()),
        *(f"--env={name}={value}" for name, value in run.environment.items()),
        # The caches that no volume holds.
        *([] if "HOME" in run.environment else [f"--env=HOME={HOME}"]),
    ]


def health(run: RunSpec) -> str:
    """Ask the server in the container whether it is well, by the Python that is there anyway."""
    url = f"http://127.0.0.1:{run.port}{run.health}"
    code = f"import urllib.request as u; u.urlopen({json.dumps(url)}, timeout=5)"
    return shlex.join(["python3", "-c", code])


def arguments(series: Series, lock: Lock, model: str, *, port: int) -> Sequence[str]:
    """What ``vllm serve`` is given, with what the overlay needs where the tree has it."""
    carries = any(entry.name == PACKAGE for entry in lock.entries)
    engine = with_workers(series.engine, series.device) if carries else series.engine
    return [model, "--host=0.0.0.0", f"--port={port}", *flags(engine)]


def mounted(path: Path, place: str, *, writable: bool = False) -> str:
    """A flag that mounts a folder of this machine.

    Raises:
        LanewrightError: It is all of this machine, or no such flag can name it.
    """
    if path == Path("/"):
        raise LanewrightError(
            "a container is not given all of this machine: / would be mounted",
            hint="name a folder of its own as `model` in [image.run] of the lane's series",
        )
    if bad := UNNAMED.search(str(path)):
        raise LanewrightError(
            f"no container can be given {path}: a {bad[0]!r} in a path ends it there",
            hint="rename that folder; or name another in LANEWRIGHT_STATE (records),"
            " LANEWRIGHT_STORE (generated models), HF_HUB_CACHE (downloaded ones) or `model` in"
            " [image.run] of the lane's series, or move the project",
        )
    return f"--volume={path}:{place}:{'rw' if writable else 'ro'}"
