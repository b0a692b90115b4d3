"""Hand fixes, replayed where they fit and merged again where a side moved."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lanewright.project import Project
from lanewright.queue.merge import merge_trees
from lanewright.queue.recipe import Recipe, Side, expand
from lanewright.queue.recipe_files import file_name, read_fixes
from lanewright.queue.recipe_making import make
from lanewright.queue.recipe_text import encode
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, BlobId, File, exists, files, read_blobs
from lanewright.store.write import flat_trees, write_blobs

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
class Sides:
    """One file's three sides in a merge; None where a side lacks it."""

    base: File | None
    ours: File | None
    theirs: File | None

    @property
    def ids(self) -> tuple[BlobId, BlobId, BlobId]:
        """Blob ids of base, ours and theirs."""
        base, ours, theirs = (
            side.blob if side else NO_BLOB for side in (self.base, self.ours, self.theirs)
        )
        return base, ours, theirs


@dataclass(frozen=True)
class Settled:
    """A conflict that a fix settles.

    Attributes:
        file: What the path becomes; None where it is removed.
        fix: The fix that was taken.
        again: What to record in its place, where it was merged again onto sides that moved.
    """

    file: File | None
    fix: Fix
    again: Fix | None = None

    @property
    def stale(self) -> bool:
        """Whether it was merged again, now or before, and nobody has looked at it since."""
        return self.recorded.recipe.remerged

    @property
    def recorded(self) -> Fix:
        """The fix as the project has it once the lane is written."""
        return self.again or self.fix


def folder_of(project: Project, entry: str) -> Path:
    """Where the fixes of an entry lie."""
    return project.overlay / FIXES / entry


def fixes_of(project: Project, entry: str) -> tuple[Fix, ...]:
    """The fixes of an entry, in the order of their files' names.

    Raises:
        RecipeError: A file there is no recipe.
    """
    return tuple(
        Fix(path.relative_to(project.root).as_posix(), recipe, _digest(recipe))
        for path, recipe in read_fixes(folder_of(project, entry))
    )


def settle(repository: Repository, fixes: Sequence[Fix], path: str, sides: Sides) -> Settled | None:
    """What a fix makes of a conflict; None where none settles it.

    A fix of these very sides is replayed. One of other sides is merged again: what its result
    changes of its ours, and what theirs changed since, onto ours as it is now. That needs the old
    contents in the store, must be clean, and all fixes that can must agree.

    Args:
        repository: The store.
        fixes: The entry's.
        path: The file in conflict.
        sides: Its three sides.

    Raises:
        RecipeError: A fix of these sides does not give what it says.
    """
    own = [fix for fix in fixes if fix.recipe.path == path]
    for fix in own:
        recipe = fix.recipe
        if (recipe.base, recipe.ours, recipe.theirs) == sides.ids:
            result = expand(recipe, contents_of(repository, sides))
            return Settled(_stored(repository, result, recipe.mode), fix)
    again = [(fix, merged) for fix in own if (merged := _merged(repository, fix.recipe, sides))]
    if not again or len({merged.blob for _, merged in again}) != 1:
        return None
    fix, merged = again[0]
    result = read_blobs(repository, [merged.blob])[merged.blob]
    recipe = make(path, merged.mode, contents_of(repository, sides), result)
    return Settled(merged, fix, _beside(fix, replace(recipe, remerged=True)))


def _beside(fix: Fix, recipe: Recipe) -> Fix:
    """A recipe as it will lie where an older one of the same entry lies."""
    folder = fix.file.removesuffix(file_name(fix.recipe))
    return Fix(f"{folder}{file_name(recipe)}", recipe, _digest(recipe))


def _digest(recipe: Recipe) -> str:
    return hashlib.sha256(encode(recipe)).hexdigest()


def contents_of(repository: Repository, sides: Sides) -> dict[Side, bytes | None]:
    """The three contents, None for a side without the file."""
    named: dict[Side, File | None] = {
        "base": sides.base,
        "ours": sides.ours,
        "theirs": sides.theirs,
    }
    blobs = read_blobs(repository, [file.blob for file in named.values() if file])
    return {name: blobs[file.blob] if file else None for name, file in named.items()}


def _stored(repository: Repository, content: bytes | None, mode: str) -> File | None:
    if content is None:
        return None
    return File(mode, write_blobs(repository, [content])[0])


def _merged(repository: Repository, recipe: Recipe, sides: Sides) -> File | None:
    """The fix's result with what both sides changed since; None where that conflicts.

    A fix that adds or removes a file has no text to merge, and is not tried.
    """
    if (
        sides.ours is None
        or sides.theirs is None
        or NO_BLOB in {recipe.ours, recipe.theirs, recipe.result}
    ):
        return None
    known = [blob for blob in recipe.sides().values() if blob != NO_BLOB]
    if not exists(repository, known):
        return None
    old = Sides(*(File(recipe.mode, i) if i != NO_BLOB else None for i in recipe.sides().values()))
    result = _stored(repository, expand(recipe, contents_of(repository, old)), recipe.mode)
    upstream = _three_way(repository, old.ours, sides.ours, result)
    return upstream and _three_way(repository, old.theirs, sides.theirs, upstream)


def _three_way(
    repository: Repository, base: File | None, ours: File | None, theirs: File | None
) -> File | None:
    """One file merged; None where that conflicts."""
    trees = flat_trees(repository, [{"file": side} for side in (base, ours, theirs)])
    merge = merge_trees(repository, *trees)
    return None if merge.conflicts else files(repository, merge.tree).get("file")
