"""Lay an overlay of a series onto a tree."""

from lanewright.errors import LanewrightError
from lanewright.queue.carried import Carried
from lanewright.queue.inputs import OverlayInput
from lanewright.queue.lock import LockedEntry
from lanewright.queue.merge.gates import check_file
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, at_or_below, changes
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files


def carry_overlay(repository: Repository, given: OverlayInput, tree: TreeId) -> Carried:
    """Lay an overlay's files into a tree.

    Raises:
        LanewrightError: A file of that name is already there, or one where a folder must be.
        GateError: A file is no valid Python.
    """
    contents = {file.path: Content(file.mode, file.content) for file in given.files}
    result = edit_tree(repository, tree, store_files(repository, contents))
    replaced = {path for path, (old, _) in changes(repository, tree, result).items() if old}
    taken = replaced | at_or_below(repository, tree, list(contents)).keys()
    if taken:
        raise LanewrightError(
            f"{given.place} ({given.name}): {min(taken)} is already in the tree; an overlay adds"
            " files, it never replaces one",
            hint="change an existing file with an own patch",
        )
    for file in given.files:
        check_file(file.path, file.content, [])
    entry = LockedEntry(
        name=given.name,
        kind="overlay",
        source=given.source,
        digest=given.digest,
        tree=result,
        files=[file.path for file in given.files],
    )
    return Carried(entry)
