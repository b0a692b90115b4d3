"""All old or all new: the one way in which lanewright edits a project."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.store.atomic import replace_file, sync_folder
from lanewright.terminal import quoted
from lanewright.transaction.editing import editing
from lanewright.transaction.forward import content_of, roll_forward
from lanewright.transaction.journal import (
    SCHEMA,
    Change,
    Transaction,
    encode,
    pending_file,
    places_of,
    read_transaction,
    scratch_file,
    undo_file,
)

MODE = 0o644
UNDO = "undo of "


def replace_together(project: Project, changes: Mapping[Path, bytes | None], *, what: str) -> None:
    """Replace files of the project, all or none, however this process ends.

    Renaming ``pending.json`` into place decides: a run killed before has changed nothing, and one
    killed after is finished by the next command. Where no file would change, nothing is written
    and the last step of undo stays.

    Args:
        project: The project; held for the time of the call if ``editing`` does not yet.
        changes: New contents by path, absolute or below the root; None removes the file.
        what: One line for people, such as ``rebase to release:0.32.0``.

    Raises:
        LanewrightError: A path outside the project, or a file that cannot be written.
        OSError: Nothing could be written at all.
    """
    if not changes:
        return
    with editing(project):
        named = [Change(_below(project, path), None, new, MODE) for path, new in changes.items()]
        places = places_of(project, named, source="this change")
        found = [_as_found(place, change) for place, change in places.items()]
        moved = tuple(change for change in found if change.old != change.new)
        if moved:
            _carry_out(project, Transaction(SCHEMA, what, moved))


def undo(project: Project) -> tuple[str, list[Path]]:
    """Put back what the last transaction replaced; once more gives the new contents again.

    Returns:
        What was taken back, as it calls itself, and the files that changed.

    Raises:
        LanewrightError: There is nothing to take back, or a file was edited since.
    """
    with editing(project):
        file = undo_file(project)
        last = read_transaction(project, file)
        if last is None:
            raise LanewrightError("nothing to undo: no command has edited this project yet")
        places = places_of(project, last.changes, source=str(file))
        for place, change in places.items():
            if content_of(place) != change.new:
                raise LanewrightError(
                    f"{place} is no longer as {last.what!r} left it; undo would lose that edit",
                    hint=f"git -C {quoted(project.root)} diff -- {quoted(change.path)}",
                )
        back = tuple(Change(each.path, each.new, each.old, each.mode) for each in last.changes)
        undone = last.what.removeprefix(UNDO)
        what = undone if undone != last.what else f"{UNDO}{undone}"
        _carry_out(project, Transaction(SCHEMA, what, back))
        return last.what, list(places)


def _below(project: Project, path: Path) -> str:
    try:
        return (project.root / path).relative_to(project.root).as_posix()
    except ValueError as error:
        raise LanewrightError(f"{path} is outside of the project {project.root}") from error


def _as_found(place: Path, change: Change) -> Change:
    """The change with what is there now.

    Raises:
        LanewrightError: It could not be carried out.
    """
    folder = next(each for each in place.parents if each.exists())
    if not os.access(folder, os.W_OK):
        raise LanewrightError(
            f"cannot write {place}", hint=f"give yourself the right to write in {folder}"
        )
    old = content_of(place)
    mode = MODE if old is None else place.stat().st_mode & 0o777
    return msgspec.structs.replace(change, old=old, mode=mode)


def _carry_out(project: Project, transaction: Transaction) -> None:
    pending = pending_file(project)
    replace_file(pending, encode(transaction), scratch=scratch_file(project))
    try:
        sync_folder(pending.parent)
        roll_forward(project, transaction)
    except (KeyboardInterrupt, SystemExit):
        # It is decided: who interrupts it gets all of it, not a half.
        if pending.exists():
            roll_forward(project, transaction)
        raise
