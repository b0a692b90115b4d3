"""Where fixes lie: one file each, in a folder per entry, named by what it settles."""

import hashlib
import stat
from pathlib import Path

from lanewright.queue.fix.recipe import Recipe, RecipeError
from lanewright.queue.fix.recipe_text import parse
from lanewright.terminal import quoted

SUFFIX = ".fix"
LEAVINGS = ("~", ".bak", ".orig", ".rej", ".swo", ".swp", ".tmp")


def file_name(recipe: Recipe) -> str:
    """Where a fix lies below its entry's folder.

    The path that it settles, and a digest of the three sides: a file whose sides moved has a
    second fix beside the first.
    """
    sides = "".join(recipe.sides().values())
    return f"{recipe.path}.{hashlib.sha256(sides.encode()).hexdigest()[:8]}{SUFFIX}"


def read_fixes(folder: Path) -> list[tuple[Path, Recipe]]:
    """Fixes of one entry, sorted by file; none where there is no folder.

    Args:
        folder: ``overlay/fixes/<entry>``.

    Raises:
        RecipeError: A fix cannot be read or lies elsewhere than its content says, or the folder
            holds a symlink or another file that is none.
    """
    if folder.is_symlink():
        raise RecipeError(f"{folder}: a symlink, which a folder of fixes may not be")
    found = []
    for path in sorted(folder.rglob("*")):
        if not _is_leaving(path.name) and (path.is_symlink() or not path.is_dir()):
            recipe = _recipe(path)
            _check_name(folder, path, recipe)
            found.append((path, recipe))
    return found


def _is_leaving(name: str) -> bool:
    """Whether an editor or a merge left the file; no fix has such a name."""
    return name.endswith(LEAVINGS) or name.startswith(".#") or name[:1] == name[-1:] == "#"


def _recipe(path: Path) -> Recipe:
    content = _content(path)
    try:
        return parse(content, str(path))
    except RecipeError as error:
        raise RecipeError(
            str(error),
            hint=error.hint
            or f"git checkout -- {quoted(path)}, or remove it and resolve its conflict again",
        ) from error


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise RecipeError(f"{path}: no regular file, so it cannot be a fix")
    if path.suffix != SUFFIX:
        raise RecipeError(
            f"{path}: no fix by its name, which ends in {SUFFIX}", hint=f"mv or rm {quoted(path)}"
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecipeError(f"cannot read the fix {path}: {error.strerror}") from error


def _check_name(folder: Path, path: Path, recipe: Recipe) -> None:
    named = folder / file_name(recipe)
    if path != named:
        raise RecipeError(
            f"{path}: its name does not fit the path and sides in it",
            hint=f"mv {quoted(path)} {quoted(named)}",
        )
