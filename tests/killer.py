"""Runs ``lanewright`` and kills it with -9 at its N-th step that writes state.

``python killer.py NUMBER MOMENT LOG ARGUMENTS...``: MOMENT is ``before`` or ``after`` the step, and
what the step was is written to LOG first. Steps below the folder for temporary files do not count:
no other process looks there.
"""

import functools
import os
import runpy
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lanewright.store import network
from lanewright.store.git import Repository
from lanewright.store.odb import Objects

NUMBER, MOMENT, LOG = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
TEMPORARY = tempfile.gettempdir()
WRITING = frozenset(
    {"bundle", "config", "fast-import", "fetch", "init", "merge-tree", "update-ref"}
)
Describe = Callable[..., str | None]
steps = 0
inside = False


def killing(step: Callable[..., Any], describe: Describe) -> Callable[..., Any]:
    """The step, counted and perhaps the last; one inside of another is part of that."""

    @functools.wraps(step)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401 - it stands in for many
        global steps, inside  # noqa: PLW0603 - one process, one count
        name = None if inside else describe(*arguments, **keywords)
        if name is None:
            return step(*arguments, **keywords)
        steps += 1
        if steps == NUMBER and MOMENT == "before":
            kill(name)
        inside = True
        try:
            return step(*arguments, **keywords)
        finally:
            inside = False
            if steps == NUMBER:
                kill(name)

    return wrapped


def kill(name: str) -> None:
    """End as the power does."""
    with LOG.open("w") as log:
        log.write(name)
    os.kill(os.getpid(), signal.SIGKILL)


def of_path(kind: str) -> Describe:
    """Name a step by its paths; None where it is about a temporary file, or finds nothing to do."""

    def describe(path: Any, *others: Any, **_: Any) -> str | None:  # noqa: ANN401
        place = os.fsdecode(path)
        if place.startswith(TEMPORARY):
            return None
        if kind in {"unlink", "rmdir", "rmtree"} and not os.path.lexists(place):
            return None
        if kind == "mkdir" and os.path.lexists(place):
            return None
        target = [os.fsdecode(each) for each in others if isinstance(each, str | bytes | Path)]
        return " ".join([kind, place, *target])

    return describe


def of_git(_repository: Repository, *arguments: str, **_: object) -> str | None:
    """Name a git call that writes."""
    return f"git {' '.join(arguments)}" if arguments[0] in WRITING else None


def of_objects(_objects: Objects, kind: str, contents: Sequence[bytes]) -> str | None:
    """Name objects that are stored, all that are stored together."""
    return f"{len(contents)} of {kind}" if contents else None


def of_call(
    _repository: Repository, _remote: object, arguments: tuple[str, ...], **_: object
) -> str | None:
    """Name a git call to a remote that writes."""
    return of_git(_repository, *arguments)


for name in ("replace", "rename", "unlink", "remove", "rmdir", "mkdir", "link", "symlink"):
    setattr(os, name, killing(getattr(os, name), of_path(name)))
for name in ("write_bytes", "write_text"):
    setattr(Path, name, killing(getattr(Path, name), of_path(name)))
shutil.rmtree = killing(shutil.rmtree, of_path("rmtree"))  # type: ignore[assignment]
Repository.run = killing(Repository.run, of_git)  # type: ignore[method-assign]
Objects.write = killing(Objects.write, of_objects)  # type: ignore[method-assign]
network._once = killing(network._once, of_call)  # noqa: SLF001 - where every call goes through

sys.argv = ["lanewright", *sys.argv[4:]]
runpy.run_module("lanewright", run_name="__main__")
