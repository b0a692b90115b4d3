"""What the tests of transactions look at, and what a killed run leaves."""

from collections.abc import Mapping
from pathlib import Path

from lanewright.project import Project
from lanewright.transaction.editing import editing
from lanewright.transaction.journal import SCHEMA, Change, Transaction, encode, pending_file
from lanewright.transaction.replace import replace_together


def snapshot(root: Path) -> dict[str, bytes]:
    """Every file of a project but lanewright's own folder."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".lanewright" not in path.relative_to(root).parts
    }


def replaced(project: Project, changes: Mapping[str, bytes | None], what: str = "a change") -> None:
    replace_together(
        project, {project.root / path: content for path, content in changes.items()}, what=what
    )


def leave_pending(project: Project, *changes: Change, what: str = "a change") -> Path:
    """What a run leaves that was killed right after the commit point."""
    with editing(project):
        pass
    file = pending_file(project)
    file.write_bytes(encode(Transaction(SCHEMA, what, changes)))
    return file
