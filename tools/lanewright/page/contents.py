"""What is in a lane's image: as its labels tell, else as a run's record has it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lanewright.errors import LanewrightError
from lanewright.image.inspect.labels import told_by
from lanewright.image.inspect.lane import of_lane
from lanewright.image.stamps import ToldEntry
from lanewright.page.recorded import Entry, Record
from lanewright.places import Places
from lanewright.project import Project


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Of an image, or of what would be in one.

    Attributes:
        told_by: Who says so, for people.
        pin: As the series has it.
        commit: The pin's.
        pin_tree: The pin's.
        tree: The lane's.
        lock: Seal of its lock; empty where only a record tells.
        layer: Digest of the lane's layer; empty where it has none.
        base: Name and digest of what it stands on; empty for the layer alone.
        image: Digest of its manifest.
        platform: Such as ``linux/arm64``.
        layers: Digest and bytes of each, and whether it is the lane's; the lowest first.
        entries: What it carries.
    """

    told_by: str
    pin: str
    commit: str
    pin_tree: str
    tree: str
    lock: str = ""
    layer: str = ""
    base: str = ""
    image: str = ""
    platform: str = ""
    layers: Sequence[tuple[str, int, bool]] = ()
    entries: Sequence[ToldEntry] = field(default_factory=list)


def image_of(project: Project, places: Places, lane: str) -> Contents | str:
    """What the image of a lane's lock tells of itself; why not, where there is none."""
    try:
        image = of_lane(project, places, lane)
        told, entries = told_by(f"the image of lane {lane}", image.labels)
    except (LanewrightError, OSError) as error:
        return str(error)
    base = f"{told.base_name} {told.base}".strip() if told.base else ""
    return Contents(
        told_by="the image of the lane's lock, by its labels",
        pin=told.pin,
        commit=told.commit,
        pin_tree=told.pin_tree,
        tree=told.tree,
        lock=told.lock,
        layer=told.layer or "",
        base=base,
        image=image.digest,
        platform=image.platform,
        layers=[(each.digest, each.size, each.diff_id == told.layer) for each in image.layers],
        entries=entries,
    )


def contents_of(image: Contents | str, record: Record | None) -> Contents | None:
    """What a run's image holds: the lane's own image where that is of the same tree."""
    if isinstance(image, Contents) and (record is None or record.tree == image.tree):
        return image
    if record is None:
        return None
    why = "the lane's image is of another tree by now" if isinstance(image, Contents) else image
    return Contents(
        told_by=f"this run's record ({why})",
        pin=record.pin.ref,
        commit=record.pin.commit,
        pin_tree=record.pin.tree,
        tree=record.tree,
        layer=record.layer.digest if record.layer else "",
        entries=[_entry(entry) for entry in record.entries],
    )


def _entry(entry: Entry) -> ToldEntry:
    hunks: dict[str, list[str]] = {}
    for hunk in entry.hunks:
        hunks.setdefault(hunk.outcome, []).append(hunk.id)
    pull = entry.pull
    return ToldEntry(
        name=entry.name,
        kind=entry.kind,
        digest="",
        pull=pull.number if pull else None,
        head=pull.head if pull else "",
        base=pull.base if pull else "",
        claims=entry.claims,
        hunks=hunks,
        files=len(entry.files),
    )
