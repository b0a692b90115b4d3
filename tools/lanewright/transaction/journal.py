"""``.lanewright/``: what a transaction writes down of itself, and what is believed of it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.store.safepath import UnsafePathError, check
from lanewright.terminal import quoted

FOLDER = ".lanewright"
SCHEMA: Literal[1] = 1


class Change(msgspec.Struct, frozen=True):
    """One file before and after.

    Attributes:
        path: Below the project's root, with ``/`` between its parts.
        old: Content before; None where there was no such file.
        new: Content after; None where the file goes.
        mode: Permission bits, kept.
    """

    path: str
    old: bytes | None
    new: bytes | None
    mode: Annotated[int, msgspec.Meta(ge=0, le=0o777)]


class Transaction(msgspec.Struct, frozen=True):
    """Files that change together.

    Attributes:
        schema: Version of this format.
        what: One line for people, such as ``rebase to release:0.32.0``.
        changes: One per file.
    """

    schema: Literal[1]
    what: str
    changes: tuple[Change, ...]


def pending_file(project: Project) -> Path:
    """A transaction that is decided and may not be carried out yet."""
    return project.root / FOLDER / "pending.json"


def scratch_file(project: Project) -> Path:
    """A transaction that is being written down, so not decided."""
    return project.root / FOLDER / "pending.json.new"


def undo_file(project: Project) -> Path:
    """The last transaction that was carried out."""
    return project.root / FOLDER / "undo.json"


def encode(transaction: Transaction) -> bytes:
    """A transaction as the bytes of its file; contents in base64."""
    return msgspec.json.encode(transaction) + b"\n"


def read_transaction(project: Project, file: Path) -> Transaction | None:
    """A transaction of this project, or None where the file is not there.

    Raises:
        LanewrightError: It is damaged, or reaches where no transaction of ours does.
    """
    hint = f"`git -C {quoted(project.root)} status` shows your files; to keep them as they are: rm {quoted(file)}"
    try:
        transaction = msgspec.json.decode(file.read_bytes(), type=Transaction)
        if not transaction.what.isprintable():
            raise msgspec.ValidationError("`what` is not one line of text")
        if not transaction.changes:
            raise msgspec.ValidationError("it changes nothing")
        places_of(project, transaction.changes, source=str(file))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LanewrightError(f"cannot read {file}: {error.strerror}") from error
    except UnsafePathError as error:
        raise LanewrightError(str(error), hint=hint) from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise LanewrightError(f"{file} is damaged: {error}", hint=hint) from error
    return transaction


def places_of(project: Project, changes: Sequence[Change], *, source: str) -> dict[Path, Change]:
    """Where the files of a transaction lie.

    Args:
        project: The project.
        changes: Its changes.
        source: Who names the paths, for messages.

    Raises:
        UnsafePathError: A path would leave the project, by itself or through a symlink, reaches
            into git's folder or ours, or no file can be there beside the others.
    """
    places: dict[Path, Change] = {}
    for change in changes:
        path = check(change.path, source=source)
        rule = _broken_rule(project, project.root / path)
        if rule:
            raise UnsafePathError(f"{source}: the path {path!r} {rule}")
        places[project.root / path] = change
    real = {place.parent.resolve() / place.name for place in places}
    if len(real) < len(changes) or any(not real.isdisjoint(place.parents) for place in real):
        raise UnsafePathError(f"{source}: two of its paths are one file, or one is in the other")
    return places


def _broken_rule(project: Project, place: Path) -> str | None:
    if place.is_symlink() or place.is_dir():
        return "is a symlink or a folder, not a file"
    for folder in place.relative_to(project.root).parents:
        if os.path.lexists(project.root / folder) and not (project.root / folder).is_dir():
            return f"has a file where its folder {folder} would be"
    try:
        real = (place.parent.resolve() / place.name).relative_to(project.root.resolve())
        check(real.as_posix(), source="there")
    except ValueError:
        return "leads out of the project through a symlink"
    except UnsafePathError as error:
        return f"leads to a place that is not ours: {error}"
    return "reaches into lanewright's own folder" if real.parts[0].lower() == FOLDER else None
