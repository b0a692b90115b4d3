"""An entry as read from disk, before anything is applied."""

import hashlib
from dataclasses import dataclass

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.fix.fixes import Fix, fixes_of
from lanewright.queue.overlay import OverlayFile, digest, read_overlay
from lanewright.queue.patch.patchfile import Patch, read
from lanewright.queue.series import EntrySpec
from lanewright.queue.use.prfile import pr_file
from lanewright.store.objects import CommitId
from lanewright.store.safepath import check


@dataclass(frozen=True)
class Choice:
    """What is taken of a change, as the series says it.

    Attributes:
        select: Paths and hunks to take; empty takes all.
        landed: Hunks that a person took for landed with edits.
        split: Whether a rename's two halves may be chosen apart.
        skips_missing: Whether hunks for files that are not there are left out.
        allow: Rules that it may break, each with a path, such as ``bidi:vllm/a.py``.
    """

    select: tuple[str, ...] = ()
    landed: tuple[str, ...] = ()
    split: bool = False
    skips_missing: bool = False
    allow: tuple[str, ...] = ()


@dataclass(frozen=True)
class PatchInput:
    """A patch entry as read from disk, before anything is applied."""

    name: str
    place: str
    patch: Patch
    base_ref: str
    choice: Choice
    claims: tuple[str, ...]
    fixes: tuple[Fix, ...]
    digest: str


@dataclass(frozen=True)
class PullInput:
    """A pull-request entry: object ids, and what is chosen."""

    name: str
    place: str
    number: int
    head: CommitId
    base: CommitId
    choice: Choice
    claims: tuple[str, ...]
    fixes: tuple[Fix, ...]
    digest: str


@dataclass(frozen=True)
class OverlayInput:
    """An overlay entry as read from disk."""

    name: str
    place: str
    source: str
    files: tuple[OverlayFile, ...]
    digest: str


ChangeInput = PatchInput | PullInput
Input = ChangeInput | OverlayInput


def _choice(entry: EntrySpec) -> Choice:
    select, landed, allow = (tuple(e or ()) for e in (entry.select, entry.landed, entry.allow))
    skips = entry.missing == "skip"
    return Choice(select, landed, entry.split, skips_missing=skips, allow=allow)


def patch_input(project: Project, name: str, file: str, entry: EntrySpec, place: str) -> PatchInput:
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
    fixes = fixes_of(project, name)
    return PatchInput(
        name, place, patch, patch.fields["Base"], _choice(entry), claims, fixes, patch.digest
    )


def pull_input(project: Project, name: str, entry: EntrySpec, place: str) -> PullInput:
    """Take a pull-request entry that is pinned; its objects are not looked at yet.

    Raises:
        LanewrightError: What is known of it cannot be read.
    """
    number, head, base = entry.pull or 0, CommitId(entry.head or ""), CommitId(entry.base or "")
    fixes = fixes_of(project, name)
    digest = hashlib.sha256(msgspec.json.encode([number, head, base])).hexdigest()
    known = pr_file(project, number)
    claims = known.claimed(entry.select or ()) if known else ()
    return PullInput(name, place, number, head, base, _choice(entry), claims, fixes, digest)


def overlay_input(project: Project, name: str, folder: str, place: str) -> OverlayInput:
    """Read an overlay entry."""
    found = read_overlay(project, folder, place)
    return OverlayInput(name, place, f"overlay/{folder}", tuple(found), digest(found))
