"""Settle an entry's conflicts by hand: open them, and record what became of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lanewright.errors import ConflictError, LanewrightError
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.apply import apply_plan
from lanewright.queue.carry import Carried, Conflict
from lanewright.queue.fixes import contents_of, fixes_of, folder_of
from lanewright.queue.gates import GateError, check_file
from lanewright.queue.plan import Plan
from lanewright.queue.recipe import Recipe
from lanewright.queue.recipe_files import file_name
from lanewright.queue.recipe_making import make
from lanewright.queue.recipe_text import encode
from lanewright.queue.workfolder import (
    Manifest,
    OpenFile,
    discard,
    lay_out,
    manifest_of,
    read_manifest,
    work_folder,
)
from lanewright.store.git import Repository
from lanewright.store.objects import NO_BLOB, BlobId, blob_id
from lanewright.store.scratch import clear_dead
from lanewright.transaction.replace import replace_together


@dataclass(frozen=True)
class Opened:
    """A work folder.

    Attributes:
        entry: The entry.
        folder: Where its files lie.
        paths: What is to be settled.
        fresh: Whether this call laid it out.
    """

    entry: str
    folder: Path
    paths: tuple[str, ...]
    fresh: bool


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
    conflicts = _conflicts(waiting(project, places, planned), planned, name)
    folder = work_folder(project, planned.lane, name)
    manifest = manifest_of(planned.lane, name, planned.series.pin, conflicts)
    clear_dead(folder.parent)
    known = read_manifest(folder)
    if known and again:
        discard(folder)
        known = None
    if known and known != manifest:
        raise LanewrightError(
            f"{folder} holds an older state of these conflicts ({known.pin})",
            hint=f"keep what you need of it, then: lanewright resolve {name} --again",
        )
    if not known:
        lay_out(Repository(places.objects), folder, manifest, conflicts)
    return Opened(name, folder, tuple(each.path for each in conflicts), fresh=not known)


def record(project: Project, places: Places, planned: Plan, name: str) -> list[Path]:
    """Record what a person made of an entry's conflicts as fixes.

    Returns:
        The recipes' files.

    Raises:
        ConflictError: A file still has markers, or does not compile.
        LanewrightError: Nothing is open, or the conflicts are others now; the folder stays.
    """
    folder = work_folder(project, planned.lane, name)
    clear_dead(folder.parent)
    manifest = read_manifest(folder)
    if manifest is None:
        raise LanewrightError(
            f"entry {name}: nothing is open in {folder}", hint=f"lanewright resolve {name}"
        )
    recorded = _recorded(project, folder, manifest)
    if recorded:  # by a run that was killed before it removed the folder
        discard(folder)
        return recorded
    conflicts = _conflicts(waiting(project, places, planned), planned, name)
    if manifest != manifest_of(planned.lane, name, planned.series.pin, conflicts):
        raise LanewrightError(
            f"entry {name}: its conflicts are others than those in {folder} ({manifest.pin})",
            hint=f"keep what you need of it, then: lanewright resolve {name} --again",
        )
    repository = Repository(places.objects)
    results = {each.path: _result(folder, each) for each in manifest.files}
    troubles = [
        trouble
        for each in conflicts
        for trouble in _troubles(repository, folder, each, results[each.path])
    ]
    if troubles:
        raise ConflictError(
            "\n".join(troubles), hint=f"edit, then: lanewright resolve {name} --done"
        )
    modes = {each.path: each.mode for each in manifest.files}
    recipes = [
        make(e.path, modes[e.path], contents_of(repository, e.sides), results[e.path])
        for e in conflicts
    ]
    written = _files(project, name, recipes)
    replace_together(project, written, what=f"resolve {name} on {planned.series.pin}")
    discard(folder)
    return list(written)


def _recorded(project: Project, folder: Path, manifest: Manifest) -> list[Path]:
    """The fixes that say what is in the folder; none where one is lacking."""
    fixes = {
        (fix.recipe.path, *fix.recipe.sides().values(), fix.recipe.result): fix
        for fix in fixes_of(project, manifest.entry)
        if not fix.recipe.remerged
    }
    keys = [(each.path, *each.ids, _blob(_result(folder, each))) for each in manifest.files]
    return [project.root / fixes[key].file for key in keys] if fixes.keys() >= set(keys) else []


def _blob(content: bytes | None) -> BlobId:
    return NO_BLOB if content is None else blob_id(content)


def _conflicts(found: list[Carried], planned: Plan, name: str) -> tuple[Conflict, ...]:
    for each in found:
        if each.entry.name == name:
            return (*each.conflicts, *each.stale)
    known = ", ".join(each.entry.name for each in found)
    told = f"these wait: {known}" if known else "nothing waits for a person"
    raise LanewrightError(
        f"lane {planned.lane} on {planned.series.pin}: {name} has no conflict ({told})",
        hint=f"lanewright report {planned.lane}",
    )


def _result(folder: Path, file: OpenFile) -> bytes | None:
    path = folder / file.path
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise LanewrightError(f"{path} is no regular file")
    return path.read_bytes() if path.exists() else None


def _troubles(
    repository: Repository, folder: Path, conflict: Conflict, result: bytes | None
) -> Iterator[str]:
    if result is None:
        return
    contents = contents_of(repository, conflict.sides)
    try:
        check_file(conflict.path, result, [side for side in contents.values() if side is not None])
    except GateError as error:
        yield f"{folder}/{error}"


def _files(project: Project, name: str, recipes: list[Recipe]) -> dict[Path, bytes]:
    folder = folder_of(project, name)
    return {folder / file_name(recipe): encode(recipe) for recipe in recipes}
