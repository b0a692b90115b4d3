"""One writer of a project at a time, and what a killed one left half done."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.store.atomic import replace_file
from lanewright.store.locking import held
from lanewright.terminal import quoted, say
from lanewright.transaction.forward import roll_forward
from lanewright.transaction.journal import (
    FOLDER,
    pending_file,
    read_transaction,
)

_held: ContextVar[frozenset[Path]] = ContextVar("_held", default=frozenset())


@contextmanager
def editing(project: Project) -> Iterator[None]:
    """Hold the project for editing; waits for another run, and says so.

    A transaction that a killed run left half done is finished first. What is read inside the block
    stays as it is until the block ends, as far as lanewright goes.

    Raises:
        LanewrightError: ``.lanewright/`` cannot be made, or what was left cannot be finished.
        OSError: The lock cannot be written.
    """
    with _locked(project):
        yield


def recover(project: Project) -> str | None:
    """Finish what a killed run left half done; costs one stat where there is nothing.

    Returns:
        What was finished, as it calls itself, or None.

    Raises:
        LanewrightError: It cannot be finished, or is none of ours; nothing is touched.
        OSError: The lock cannot be written.
    """
    if not os.path.lexists(pending_file(project)):
        return None
    with _locked(project) as finished:
        return finished


@contextmanager
def _locked(project: Project) -> Iterator[str | None]:
    root = project.root.resolve()
    if root in _held.get():
        yield None
        return
    folder = _own_folder(project)
    with held(folder / "lock", f"edits {project.root}"):
        _clear(folder)
        _hide(folder)
        token = _held.set(_held.get() | {root})
        try:
            yield _finish(project)
        finally:
            _held.reset(token)


def _own_folder(project: Project) -> Path:
    """``.lanewright/``, made where it is not there."""
    folder = project.root / FOLDER
    if folder.is_symlink():
        raise LanewrightError(
            f"{folder} is a symlink, and lanewright writes only inside the project",
            hint=f"rm {quoted(folder)}",
        )
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise LanewrightError(
            f"cannot make the folder {folder}: {error.strerror}",
            hint="editing a project needs the right to write there",
        ) from error
    return folder


def _clear(folder: Path) -> None:
    """Remove what killed runs had not renamed into its place; nobody else writes there now."""
    for left in folder.glob("*.new"):
        if not left.is_dir():
            left.unlink(missing_ok=True)


def _hide(folder: Path) -> None:
    """Have git see nothing of it."""
    ignore = folder / ".gitignore"
    if not ignore.exists():
        replace_file(ignore, b"*\n", scratch=folder / ".gitignore.new")


def _finish(project: Project) -> str | None:
    transaction = read_transaction(project, pending_file(project))
    if transaction is None:
        return None
    roll_forward(project, transaction)
    say(f"finished what an earlier run had begun: {transaction.what}")
    return transaction.what
