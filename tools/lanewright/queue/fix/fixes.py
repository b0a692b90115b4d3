"""Hand fixes, replayed where they fit and merged again where a side moved."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lanewright.project import Project
from lanewright.queue.fix.recipe import Recipe, RecipeError, Side, expand
from lanewright.queue.fix.recipe_files import file_name, read_fixes
from lanewright.queue.fix.recipe_making import make
from lanewright.queue.fix.recipe_text import encode
from lanewright.queue.fix.remerge import has_text, merged_again
from lanewright.queue.fix.sides import Sides, contents_of
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, File, exists, read_blobs
from lanewright.store.write import write_blobs
from lanewright.terminal import quoted

FIXES = "fixes"


@dataclass(frozen=True)
class Fix:
    """A recipe as it lies in the project.

    Attributes:
        file: Its path below the project.
        recipe: What it says.
        digest: sha256 of its file.
    """

    file: str
    recipe: Recipe
    digest: str


@dataclass(frozen=True)
class Settled:
    """A conflict that a fix settles.

    Attributes:
        file: What the path becomes; None where it is removed.
        fix: The fix that was taken.
        again: What to record in its place, where it was merged again onto sides that moved.
        unneeded: Whether it was merged again, and ours has all that it makes already.
    """

    file: File | None
    fix: Fix
    again: Fix | None = None
    unneeded: bool = False

    @property
    def stale(self) -> bool:
        """Whether it was merged again, now or before, and nobody has looked at it since."""
        return self.recorded.recipe.remerged and not self.unneeded

    @property
    def recorded(self) -> Fix:
        """The fix as the project has it once the lane is written."""
        return self.again or self.fix


def folder_of(project: Project, entry: str) -> Path:
    """Where the fixes of an entry lie.

    Raises:
        RecipeError: A symlink leads there: what it reaches may be anything, and fixes are written.
    """
    fixes = project.overlay / FIXES
    for folder in (fixes, fixes / entry):
        if folder.is_symlink():
            place = folder.relative_to(project.root).as_posix()
            raise RecipeError(
                f"{place} is a symlink to {folder.readlink()}, and fixes lie in the project itself",
                hint=f"rm {quoted(folder)}, and put the folder that it leads to in its place",
            )
    return fixes / entry


def fixes_of(project: Project, entry: str) -> tuple[Fix, ...]:
    """The fixes of an entry, in the order of their files' names.

    Raises:
        RecipeError: A symlink leads there, or a file there is no recipe.
    """
    return tuple(
        Fix(path.relative_to(project.root).as_posix(), recipe, _digest(recipe))
        for path, recipe in read_fixes(folder_of(project, entry))
    )


def settle(repository: Repository, fixes: Sequence[Fix], path: str, sides: Sides) -> Settled | None:
    """What a fix makes of a conflict; None where none settles it.

    A fix of these very sides is replayed. One of other sides is merged again: what its result
    changes of its ours, and what theirs changed since, onto ours as it is now. That needs the old
    contents in the store, must be clean, and all fixes that can must agree. Where that gives ours
    it is not needed, unless it does not tell what a person wanted of the entry: then somebody has
    to say whether it still holds.

    Args:
        repository: The store.
        fixes: The entry's.
        path: The file in conflict.
        sides: Its three sides.

    Raises:
        RecipeError: A fix of these sides, or one that can be merged again, does not give what it
            says.
    """
    own = [fix for fix in fixes if fix.recipe.path == path]
    for fix in own:
        recipe = fix.recipe
        if (recipe.base, recipe.ours, recipe.theirs) == sides.ids:
            result = _given(fix, contents_of(repository, sides))
            return Settled(_stored(repository, result, recipe.mode), fix)
    again = [(fix, merged) for fix in own if (merged := _again(repository, fix, sides))]
    if not again or len({merged for _, merged in again}) != 1:
        return None
    fix, merged = again[0]
    if merged == sides.ours and all(_tells(each.recipe) for each, _ in again):
        return Settled(merged, fix, unneeded=True)
    result = read_blobs(repository, [merged.blob])[merged.blob]
    recipe = make(path, merged.mode, contents_of(repository, sides), result)
    return Settled(merged, fix, _beside(fix, replace(recipe, remerged=True)))


def _tells(recipe: Recipe) -> bool:
    """Whether a recipe's change of its ours is what a person made of the entry.

    One that took ours has none; one that was merged again had part of it in ours already, and that
    may be gone from there since.
    """
    return recipe.result != recipe.ours and not recipe.remerged


def expanded(repository: Repository, fix: Fix) -> bytes | None:
    """A fix in full: what its file becomes, byte for byte; None where it is removed.

    Raises:
        RecipeError: The store lacks a side of it, or it does not give what it says.
    """
    if fix.recipe.result == NO_BLOB:
        return None
    for side, blob in fix.recipe.sides().items():
        if blob != NO_BLOB and not exists(repository, [blob]):
            raise RecipeError(
                f"{fix.file}: the store does not hold {side} of {fix.recipe.path}, blob {blob}",
                hint="it comes with the pin and entry that the fix was made on: build a lane that"
                " takes the fix, then again",
            )
    return _given(fix, _own_contents(repository, fix))


def _again(repository: Repository, fix: Fix, sides: Sides) -> File | None:
    """A fix merged again; None where that cannot be, or needs a person."""
    known = [blob for blob in fix.recipe.sides().values() if blob != NO_BLOB]
    if not has_text(fix.recipe, sides) or not exists(repository, known):
        return None
    result = _given(fix, _own_contents(repository, fix))
    return merged_again(repository, fix.recipe, result or b"", sides)


def _own_contents(repository: Repository, fix: Fix) -> dict[Side, bytes | None]:
    """The sides that a fix was made on."""
    ids = fix.recipe.sides()
    blobs = read_blobs(repository, [blob for blob in ids.values() if blob != NO_BLOB])
    return {side: blobs.get(blob) for side, blob in ids.items()}


def _given(fix: Fix, contents: Mapping[Side, bytes | None]) -> bytes | None:
    """What a fix gives; an error names its file."""
    try:
        return expand(fix.recipe, contents)
    except RecipeError as error:
        raise RecipeError(
            f"{fix.file}: {error}",
            hint=f"git checkout -- {quoted(fix.file)}, or remove it and resolve its conflict again",
        ) from error


def _beside(fix: Fix, recipe: Recipe) -> Fix:
    """A recipe as it will lie where an older one of the same entry lies."""
    folder = fix.file.removesuffix(file_name(fix.recipe))
    return Fix(f"{folder}{file_name(recipe)}", recipe, _digest(recipe))


def _digest(recipe: Recipe) -> str:
    return hashlib.sha256(encode(recipe)).hexdigest()


def _stored(repository: Repository, content: bytes | None, mode: str) -> File | None:
    if content is None:
        return None
    return File(mode, write_blobs(repository, [content])[0])
