"""An entry as read from disk, before anything is applied."""

from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.overlay import OverlayFile, digest, read_overlay
from lanewright.queue.patchfile import Patch, read
from lanewright.store.safepath import check


@dataclass(frozen=True)
class PatchInput:
    """A patch entry as read from disk, before anything is applied."""

    name: str
    place: str
    patch: Patch
    base_ref: str
    select: tuple[str, ...]
    claims: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class OverlayInput:
    """An overlay entry as read from disk."""

    name: str
    place: str
    source: str
    files: tuple[OverlayFile, ...]
    digest: str


Input = PatchInput | OverlayInput


def patch_input(
    project: Project, name: str, file: str, select: list[str], place: str
) -> PatchInput:
    """Read a patch entry.

    Raises:
        UnsafePathError: The file would lie outside ``patches/``.
        PatchError: The file is missing or no own patch.
    """
    path = project.patches / check(file, source=f"{place} ({name})")
    if not path.is_file():
        raise LanewrightError(
            f"{place} ({name}): no such patch: {path.relative_to(project.root)}",
            hint="correct the series, or restore the file",
        )
    patch = read(path)
    claims = tuple(patch.fields.get("Claims", "").replace(",", " ").split())
    return PatchInput(name, place, patch, patch.fields["Base"], tuple(select), claims, patch.digest)


def overlay_input(project: Project, name: str, folder: str, place: str) -> OverlayInput:
    """Read an overlay entry."""
    found = read_overlay(project, folder, place)
    return OverlayInput(name, place, f"overlay/{folder}", tuple(found), digest(found))
