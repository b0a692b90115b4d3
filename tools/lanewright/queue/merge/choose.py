"""Some of a change's units, and the changed files with only those in place."""

from collections import Counter
from collections.abc import Iterable, Sequence

from lanewright.errors import LanewrightError
from lanewright.queue.inputs import Choice
from lanewright.queue.merge.subset import apply
from lanewright.queue.merge.units import LINK, OnBase, Unit
from lanewright.queue.patch.diff import FilePatch
from lanewright.store.objects import NO_BLOB
from lanewright.store.write import Content


def choose(on_base: OnBase, choice: Choice, place: str) -> frozenset[str]:
    """Ids of the chosen units.

    Args:
        on_base: The change.
        choice: What is wanted of it.
        place: Series and entry, for messages.

    Raises:
        LanewrightError: A part of the choice matches nothing, an id is not unique, half of a
            rename is chosen, or a file without what makes room for it.
    """
    if not choice.select:
        return frozenset(unit.id for unit in on_base.units)
    chosen = _named(on_base, choice.select, place, "selects")
    if not choice.split:
        _require_whole_renames(on_base, chosen, place)
    _require_room(on_base, chosen, place)
    return chosen


def recorded_units(
    on_base: OnBase, choice: Choice, chosen: frozenset[str], place: str
) -> frozenset[str]:
    """Ids of the chosen units that a person took for landed with edits.

    Raises:
        LanewrightError: One of them is none of the entry's, or not chosen.
    """
    recorded = _named(on_base, choice.landed, place, "has landed")
    if recorded - chosen:
        raise LanewrightError(
            f"{place}: {min(recorded - chosen)} is said to have landed, and is not selected",
            hint="take it out of `landed`",
        )
    return recorded


def _named(on_base: OnBase, names: Sequence[str], place: str, verb: str) -> frozenset[str]:
    chosen: set[str] = set()
    for wanted in names:
        require_no_submodule(on_base, wanted, place)
        found = units_named(on_base.units, wanted)
        if not found or is_ambiguous(found, wanted):
            raise LanewrightError(
                f"{place}: {verb} {wanted!r}, which matches {len(found)} hunks"
                f" of {on_base.diff.source.rpartition('/')[2]}",
                hint="`lanewright show` lists paths and hunk ids",
            )
        chosen.update(unit.id for unit in found)
    return frozenset(chosen)


def require_no_submodule(on_base: OnBase, path: str, place: str) -> None:
    """See that a person names no submodule.

    Raises:
        LanewrightError: It is one.
    """
    if path in on_base.diff.submodules:
        raise LanewrightError(
            f"{place}: {path}: submodule: a lane's tree can have none; nothing allows that",
            hint="leave it out",
        )


def units_named(units: Sequence[Unit], name: str) -> list[Unit]:
    """Units that ``PATH`` or ``PATH:HUNK`` means; a hunk may be named by its id's first digits.

    A path may hold a colon itself, so one that is there as a whole comes first.
    """
    path, _, hunk = name.rpartition(":")
    of_file = [unit for unit in units if unit.path == name]
    return of_file or [u for u in units if hunk and u.path == path and u.id.startswith(hunk)]


def is_ambiguous(found: Sequence[Unit], name: str) -> bool:
    """Whether a name that means one hunk fits several."""
    return len(found) > 1 and found[0].path != name


def _require_whole_renames(on_base: OnBase, chosen: frozenset[str], place: str) -> None:
    """A renamed file's two names go together."""
    paths = {unit.path for unit in on_base.units if unit.id in chosen}
    left = {unit.path for unit in on_base.units if unit.id not in chosen}
    for file in on_base.diff.files:
        if file.path in paths and file.partner in left:
            raise LanewrightError(
                f"{place}: {file.path} is one name of a renamed file, and {file.partner}, the"
                " other, is not chosen",
                hint="choose both, or say `split = true` in the entry",
            )


def _require_room(on_base: OnBase, chosen: frozenset[str], place: str) -> None:
    """Where a change swaps a file for a folder, or the reverse, one does not come without the other."""
    nested = [
        (path[:at], path)
        for path in on_base.sides
        for at, sign in enumerate(path)
        if sign == "/" and path[:at] in on_base.sides
    ]
    changed = with_units(on_base, chosen) if nested else {}
    for above, below in nested:
        sides = [changed.get(path, on_base.sides[path]) for path in (above, below)]
        if all(sides):
            raise LanewrightError(
                f"{place}: with what is chosen, {above} would be a file and a folder with {below}",
                hint=f"choose the changes of both {above} and {below}, or of neither",
            )


def with_units(on_base: OnBase, chosen: Iterable[str]) -> dict[str, Content | None]:
    """The changed files when only some units are taken; None stands for a removed file."""
    wanted = frozenset(chosen)
    changes: dict[str, Content | None] = {}
    by_path: dict[str, list[Unit]] = {}
    for unit in on_base.units:
        by_path.setdefault(unit.path, []).append(unit)
    for file in on_base.diff.files:
        units = by_path[file.path]
        taken = [u for u in units if u.id in wanted]
        if taken:
            changes[file.path] = _with(on_base, file, taken, whole=len(taken) == len(units))
    return changes


def each_alone(on_base: OnBase, units: Iterable[Unit]) -> list[Content | None]:
    """For each of these units its file when no other is taken; None stands for a removed file."""
    files = {file.path: file for file in on_base.diff.files}
    counts = Counter(unit.path for unit in on_base.units)
    return [_with(on_base, files[u.path], [u], whole=counts[u.path] == 1) for u in units]


def _with(on_base: OnBase, file: FilePatch, taken: list[Unit], *, whole: bool) -> Content | None:
    """A file with some of its units, which may be the whole of them."""
    if whole and file.post == NO_BLOB != file.pre:
        return None
    side = on_base.sides[file.path]
    raw = apply(
        on_base.contents[file.path],
        file,
        [u.hunk for u in taken if u.hunk],
        source=on_base.diff.source,
        base_name=on_base.base_name,
    )
    replaced = any(u.lines == "whole" for u in taken)
    if replaced:
        raw = on_base.wholes[file.path]
    is_link = LINK in {file.old_mode, file.new_mode}
    mode_taken = any(u.lines in {"mode", "file"} for u in taken) or side is None
    mode = file.new_mode if mode_taken or (replaced and is_link) else None
    return Content(mode or (side.mode if side else "100644"), raw)
