"""Our own files, laid into a lane's tree beside upstream's."""

import hashlib
import stat
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.fix.fixes import FIXES
from lanewright.store.safepath import check

TREE = "tree"


@dataclass(frozen=True)
class OverlayFile:
    """One file to lay in: path in the lane's tree, git mode, content."""

    path: str
    mode: str
    content: bytes


def read_overlay(project: Project, name: str, place: str) -> list[OverlayFile]:
    """Files of an overlay, sorted by path.

    ``tree`` gives what lies below ``overlay/tree`` (new files inside ``vllm/``); any other name
    a package and its dist-info, laid beside ``vllm/``.

    Args:
        project: Where overlays lie.
        name: Folder below ``overlay/``.
        place: Series and entry, for messages.

    Raises:
        LanewrightError: There is no such overlay, it is empty, or it holds a symlink.
    """
    check(name, source=place)
    folder = project.overlay / name
    if not folder.is_dir() or folder.is_symlink():
        there = ", ".join(_names(project)) or "none yet"
        raise LanewrightError(
            f"{place}: no folder overlay/{name} (a symlink is none)",
            hint=f"make it, or name one that is there: {there}",
        )
    if name == TREE:
        roots = [(project.overlay / TREE, project.overlay / TREE)]
    else:
        folders = [
            project.overlay / name,
            *sorted(project.overlay.glob(f"{escape(name)}-*.dist-info")),
        ]
        roots = [(folder, project.overlay) for folder in folders]
    found = [
        _file(path, path.relative_to(start).as_posix(), place)
        for folder, start in roots
        for path in folder.rglob("*")
        if _counts(path, start)
    ]
    if not found:
        raise LanewrightError(
            f"{place}: no files in overlay/{name}", hint="put some there, or take the entry out"
        )
    return sorted(found, key=lambda file: file.path)


def _names(project: Project) -> list[str]:
    """Overlays that the project has."""
    folders = (path for path in project.overlay.glob("*") if path.is_dir())
    names = sorted(path.name for path in folders if not path.is_symlink())
    return [each for each in names if each != FIXES and not each.endswith(".dist-info")]


def _counts(path: Path, start: Path) -> bool:
    """Whether a path is content, not a folder, bytecode or an editor's leaving."""
    parts = path.relative_to(start).parts
    return (
        (path.is_symlink() or not path.is_dir())
        and "__pycache__" not in parts
        and not any(part.startswith(".") for part in parts)
        and not path.name.endswith(("~", ".pyc"))
    )


def _file(path: Path, name: str, place: str) -> OverlayFile:
    mode = path.lstat().st_mode
    if not stat.S_ISREG(mode):
        raise LanewrightError(f"{place}: {path} is no regular file")
    kind = "100755" if mode & stat.S_IXUSR else "100644"
    return OverlayFile(check(name, source=place), kind, path.read_bytes())


def digest(files: list[OverlayFile]) -> str:
    """sha256 over paths, modes and contents."""
    state = hashlib.sha256()
    for file in files:
        state.update(f"{file.path}\0{file.mode}\0{len(file.content)}\0".encode())
        state.update(file.content)
    return state.hexdigest()
