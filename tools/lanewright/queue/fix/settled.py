"""The files of an entry that its fixes settle, and what the lock says of those fixes."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from lanewright.queue.fix.fixes import Settled, settle
from lanewright.queue.fix.sides import Sides
from lanewright.queue.inputs import ChangeInput
from lanewright.queue.lock import HunkState, LockedFix, Outcome
from lanewright.store.git import Repository


def settle_files(
    repository: Repository,
    given: ChangeInput,
    sides: Mapping[str, Sides],
    no_place: Iterable[str],
) -> dict[str, Settled]:
    """By path, the files of an entry that a fix settles.

    Args:
        repository: The store.
        given: The entry.
        sides: Of those files that need a person or a fix.
        no_place: Paths that can have no file, so that a fix can only remove it.
    """
    nowhere = frozenset(no_place)
    found = {path: settle(repository, given.fixes, path, each) for path, each in sides.items()}
    return {
        path: each for path, each in found.items() if each and not (each.file and path in nowhere)
    }


def with_fix(state: HunkState, found: Settled | None, sides: Sides) -> HunkState:
    """What became of a hunk, where a fix may settle its file.

    Args:
        state: What it is without one.
        found: The fix of its file.
        sides: Of its file.
    """
    if not found or not state.open:
        return state
    if found.unneeded:
        why = "; ".join(filter(None, ["its file is what its hand fix makes of it", state.cause]))
        return msgspec.structs.replace(state, outcome="landed changed", cause=why, open=False)
    why = "; ".join(filter(None, [_nothing_of_it(found, sides), state.cause]))
    outcome: Outcome = "fix stale" if found.stale else "fixed"
    return msgspec.structs.replace(state, outcome=outcome, cause=why, open=False)


def _nothing_of_it(found: Settled, sides: Sides) -> str:
    """Said where a person's fix leaves out all that an entry does to a file."""
    if found.file == sides.ours:
        what = "keeps the file as the lane has it" if sides.ours else "goes without the file"
        return f"its hand fix {what}, so nothing of this is carried"
    if found.file is None and sides.theirs:
        return "its hand fix removes the file, so nothing of this is carried"
    return ""


def locked_fixes(
    given: ChangeInput, settled: Mapping[str, Settled], waiting: set[str]
) -> list[LockedFix]:
    """The fixes that were taken, and those of files that wait for a person."""
    taken = []
    for path, found in settled.items():
        # What an entry that waits would record is not written: its lock must not name it.
        fix = found.fix if waiting else found.recorded
        taken.append(LockedFix(path, fix.file, fix.digest, _state(found)))
    unfit = [
        LockedFix(fix.recipe.path, fix.file, fix.digest, "unfit")
        for fix in given.fixes
        if fix.recipe.path in waiting
    ]
    return [*taken, *unfit]


def _state(found: Settled) -> Literal["replayed", "stale", "unneeded"]:
    if found.unneeded:
        return "unneeded"
    return "stale" if found.stale else "replayed"
