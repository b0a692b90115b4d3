"""Settle an entry's conflicts by hand: open them, and record what became of them."""

from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import ConflictError, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.carried import Carried, Conflict
from lanewright.queue.fix.fixes import fixes_of, folder_of
from lanewright.queue.fix.recipe import Recipe
from lanewright.queue.fix.recipe_files import file_name
from lanewright.queue.fix.recipe_making import make
from lanewright.queue.fix.recipe_text import encode
from lanewright.queue.fix.sides import contents_of
from lanewright.queue.fix.workfolder import (
    Manifest,
    discard,
    lay_out,
    manifest_of,
    read_manifest,
    work_folder,
)
from lanewright.queue.fix.workresult import read_result, troubles_of
from lanewright.queue.merge.gates import GateError
from lanewright.queue.move.stopped import resolve_command
from lanewright.queue.patch.patchhead import MODES
from lanewright.queue.plan import Plan
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, BlobId, blob_id
from lanewright.store.scratch import clear_dead
from lanewright.terminal import quoted
from lanewright.transaction.replace import replace_together


@dataclass(frozen=True)
class Opened:
    """A work folder.

    Attributes:
        entry: The entry.
        folder: Where its files lie.
        paths: What is to be settled.
        fresh: Whether this call laid it out.
        stale: Those of the paths that a fix settles which was merged again, without conflict.
        without: The entries before it that are in conflict, so that it was tried without them.
    """

    entry: str
    folder: Path
    paths: tuple[str, ...]
    fresh: bool
    stale: tuple[str, ...]
    without: tuple[str, ...]


@dataclass(frozen=True)
class Recorded:
    """What a person settled.

    Attributes:
        files: The recipes' files.
        left: Entries that are still in conflict.
    """

    files: tuple[Path, ...]
    left: tuple[str, ...]


def waiting(project: Project, places: Places, planned: Plan) -> list[Carried]:
    """The entries that need a person: in conflict, or carried by a stale fix."""
    applied = apply_plan(project, places, planned)
    return [each for each in applied.carried if each.conflicts or each.stale]


def open_entry(
    project: Project, places: Places, planned: Plan, name: str, *, again: bool = False
) -> Opened:
    """Lay out what an entry's conflicts need a person for.

    Args:
        project: The user's project.
        places: Store and state.
        planned: The lane, on the pin that is meant.
        name: The entry.
        again: Whether edits that are there already may be thrown away.

    Raises:
        LanewrightError: Nothing waits there, or a folder with other conflicts is in the way.
    """
    found = waiting(project, places, planned)
    conflicts = _conflicts(project, found, planned, name)
    _require_text(planned, name, conflicts)
    folder = work_folder(project, planned.lane, name)
    manifest = manifest_of(planned.lane, name, planned.series.pin, conflicts)
    clear_dead(folder.parent)
    known = read_manifest(folder)
    if known and again:
        discard(folder)
        known = None
    if known and known != manifest:
        raise LanewrightError(
            f"entry {name}: {_moved(known, manifest)}; your edits stay in {folder}",
            hint=f"keep what you need of it, then: {_command(project, planned, name)} --again",
        )
    if not known:
        lay_out(Repository(places.objects), folder, manifest, conflicts)
    paths = tuple(each.path for each in conflicts)
    names = [each.entry.name for each in found]
    before = found[: names.index(name)]
    return Opened(
        name,
        folder,
        paths,
        fresh=not known,
        stale=tuple(each.path for each in found[len(before)].stale),
        without=tuple(each.entry.name for each in before if each.conflicts),
    )


def record(project: Project, places: Places, planned: Plan, name: str) -> Recorded:
    """Record what a person made of an entry's conflicts as fixes.

    Raises:
        ConflictError: A file still has markers, or does not compile.
        LanewrightError: Nothing is open, or the conflicts are others now; the folder stays.
    """
    folder = work_folder(project, planned.lane, name)
    clear_dead(folder.parent)
    manifest = read_manifest(folder)
    if manifest is None:
        raise LanewrightError(
            f"entry {name}: nothing is open in {folder}", hint=_command(project, planned, name)
        )
    recorded = _recorded(project, folder, manifest)
    if recorded:  # by a run that was killed before it removed the folder
        discard(folder)
        return Recorded(tuple(recorded), ())
    found = waiting(project, places, planned)
    conflicts = _conflicts(project, found, planned, name)
    now = manifest_of(planned.lane, name, planned.series.pin, conflicts)
    if manifest != now:
        raise LanewrightError(
            f"entry {name}: {_moved(manifest, now)}; your edits stay in {folder}",
            hint=f"keep what you need of it, then: {_command(project, planned, name)} --again",
        )
    repository = Repository(places.objects)
    troubles = [
        f"entry {name}: {folder}/{trouble}"
        for each in conflicts
        for trouble in troubles_of(repository, folder, each)
    ]
    if troubles:
        raise ConflictError(
            "\n".join(troubles), hint=f"edit, then: {_command(project, planned, name)} --done"
        )
    recipes = [
        make(
            each.path,
            each.sides.mode,
            contents_of(repository, each.sides),
            read_result(folder, each.path),
        )
        for each in conflicts
    ]
    written = _files(project, name, recipes)
    replace_together(project, written, what=f"resolve {name} on {planned.series.pin}")
    discard(folder)
    left = tuple(each.entry.name for each in found if each.conflicts and each.entry.name != name)
    return Recorded(tuple(written), left)


def _recorded(project: Project, folder: Path, manifest: Manifest) -> list[Path]:
    """The fixes that say what is in the folder; none where one is lacking."""
    fixes = {
        (fix.recipe.path, *fix.recipe.sides().values(), fix.recipe.result): fix
        for fix in fixes_of(project, manifest.entry)
        if not fix.recipe.remerged
    }
    try:
        keys = [(e.path, *e.ids, _blob(read_result(folder, e.path))) for e in manifest.files]
    except GateError:
        return []
    return [project.root / fixes[key].file for key in keys] if fixes.keys() >= set(keys) else []


def _blob(content: bytes | None) -> BlobId:
    return NO_BLOB if content is None else blob_id(content)


def _command(project: Project, planned: Plan, name: str) -> str:
    return resolve_command(project, planned.lane, name, planned.series.pin)


def _conflicts(
    project: Project, found: list[Carried], planned: Plan, name: str
) -> tuple[Conflict, ...]:
    for each in found:
        if each.entry.name == name:
            return (*each.conflicts, *each.stale)
    place = f"lane {planned.lane} on {planned.series.pin}"
    names = [given.name for given in planned.inputs]
    if name not in names:
        raise LanewrightError(
            f"{place}: no entry {name!r} (it has: {', '.join(names) or 'none'})",
            hint=f"lanewright list {planned.lane}",
        )
    known = ", ".join(each.entry.name for each in found)
    told = f"these wait: {known}" if known else "nothing waits for a person"
    raise LanewrightError(
        f"{place}: entry {name} has no conflict ({told})",
        hint=_command(project, planned, found[0].entry.name)
        if found
        else f"lanewright report {planned.lane}",
    )


def _require_text(planned: Plan, name: str, conflicts: tuple[Conflict, ...]) -> None:
    """A fix gives a regular file; what a symlink should be is for the series to say."""
    for each in conflicts:
        sides = (each.sides.base, each.sides.ours, each.sides.theirs)
        if any(side and side.mode not in MODES for side in sides):
            raise LanewrightError(
                f"lane {planned.lane}: entry {name}: {each.path} is a symlink on a side, and a fix"
                " settles regular files alone",
                hint=f"leave it out: lanewright drop {quoted(f'{name}:{each.path}')} --lane {planned.lane}",
            )


def _moved(before: Manifest, now: Manifest) -> str:
    """How a work folder's conflicts differ from those that there are."""
    if before.pin != now.pin:
        return f"it was opened on {before.pin}, and {now.pin} is meant now"
    old, new = ({each.path: each for each in one.files} for one in (before, now))
    paths = sorted(path for path in old | new if old.get(path) != new.get(path))
    return f"its conflicts are others now, in {', '.join(paths)}"


def _files(project: Project, name: str, recipes: list[Recipe]) -> dict[Path, bytes]:
    folder = folder_of(project, name)
    return {folder / file_name(recipe): encode(recipe) for recipe in recipes}
