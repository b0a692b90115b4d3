"""A settled file carried on to sides that moved: merged again, or left to a person."""

from lanewright.queue.fix.recipe import Recipe
from lanewright.queue.fix.sides import PLAIN, Sides, contents_of
from lanewright.queue.merge.gates import GateError, check_file
from lanewright.queue.merge.merge import merge_trees
from lanewright.queue.merge.regions import changed_regions
from lanewright.queue.patch.patchhead import MODES
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, BlobId, File, files, read_blobs
from lanewright.store.trees import flat_trees
from lanewright.store.write import write_blobs

NAME = "file"


def has_text(recipe: Recipe, sides: Sides) -> bool:
    """Whether there is text to merge: a fix that adds or removes a file has none."""
    return (
        sides.ours is not None
        and sides.theirs is not None
        and sides.mode in MODES
        and NO_BLOB not in {recipe.ours, recipe.theirs, recipe.result}
    )


def merged_again(
    repository: Repository, recipe: Recipe, result: bytes, sides: Sides
) -> File | None:
    """A fix's result with what both sides changed since; None where a person must do it.

    That is where it conflicts, where a side's change would come to stand elsewhere than it does in
    the side itself, and where what comes out fails a gate.

    Args:
        repository: The store; it holds the fix's own sides.
        recipe: The fix.
        result: What it gives.
        sides: The sides as they are now, with text on both.
    """
    _, ours, theirs = sides.ids
    [settled] = write_blobs(repository, [result])
    with_ours = _three_way(repository, recipe.path, recipe.ours, ours, settled)
    merged = with_ours and _three_way(repository, recipe.path, recipe.theirs, theirs, with_ours)
    if not merged:
        return None
    content = read_blobs(repository, [merged])[merged]
    known = [side for side in contents_of(repository, sides).values() if side is not None]
    try:
        check_file(recipe.path, content, known)
    except GateError:
        return None
    return File(sides.mode, merged)


def _three_way(
    repository: Repository, path: str, before: BlobId, after: BlobId, onto: BlobId
) -> BlobId | None:
    """What one side changed, ``before`` to ``after``, merged onto a file."""
    base, side, current = flat_trees(
        repository, [{NAME: File(PLAIN, blob)} for blob in (before, after, onto)]
    )
    merge = merge_trees(repository, base, current, side)
    found = files(repository, merge.tree).get(NAME)
    if merge.conflicts or not found:
        return None
    blobs = read_blobs(repository, [after, found.blob])
    wanted = changed_regions(repository, base, side, {NAME: (path, blobs[after])})
    got = changed_regions(repository, current, merge.tree, {NAME: (path, blobs[found.blob])})
    # A change that upstream made in both is none here.
    return found.blob if got.get(NAME, set()) <= wanted.get(NAME, set()) else None
