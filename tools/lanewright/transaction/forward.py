"""A decided transaction is carried out, as often as it takes."""

from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.store.atomic import replace_file, sync_folder
from lanewright.terminal import quoted
from lanewright.transaction.journal import Change, Transaction, pending_file, places_of, undo_file


def content_of(place: Path) -> bytes | None:
    """What a file holds, or None where there is none."""
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None


def roll_forward(project: Project, transaction: Transaction) -> None:
    """Give every file its new content; the pending transaction becomes the one to undo.

    What an earlier run did of it is kept, so that it may be called again after any failure. Hold
    the project's lock.

    Raises:
        LanewrightError: Somebody else wrote one of the files meanwhile (nothing is touched), or
            one cannot be written (the next command tries again).
    """
    file = pending_file(project)
    places = places_of(project, transaction.changes, source=str(file))
    for place, change in places.items():
        if content_of(place) not in {change.old, change.new}:
            raise LanewrightError(
                f"{place} was edited while {transaction.what!r} was half done",
                hint=f"put your edit aside and run `git -C {quoted(project.root)} checkout -- {quoted(change.path)}`"
                f" if that is what it held, or keep every file as it is now: rm {quoted(file)}",
            )
    try:
        for place, change in places.items():
            _settle(project, place, change)
        file.replace(undo_file(project))
        sync_folder(file.parent)
    except OSError as error:
        raise LanewrightError(
            f"cannot finish {transaction.what!r}: {error.filename or file}: {error.strerror}",
            hint="mend that; the next lanewright command finishes it, whichever it is",
        ) from error


def _settle(project: Project, place: Path, change: Change) -> None:
    scratch = place.with_name(f".{place.name}.lanewright")
    if change.new is None:
        place.unlink(missing_ok=True)
    elif content_of(place) != change.new:
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, change.new, mode=change.mode, scratch=scratch)
    scratch.unlink(missing_ok=True)
    if change.new is None:
        _remove_empty_folders(project, place)
    sync_folder(next(folder for folder in place.parents if folder.exists()))


def _remove_empty_folders(project: Project, place: Path) -> None:
    """As git does, which knows no empty folders."""
    for folder in place.parents:
        if folder == project.root:
            return
        try:
            folder.rmdir()
        except OSError:  # not empty, or gone already
            if folder.exists():
                return
