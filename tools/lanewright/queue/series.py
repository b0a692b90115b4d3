"""``series/<lane>.toml``: what people want a lane to be."""

import math
import re
from collections.abc import Mapping
from datetime import date, time
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from lanewright.errors import LanewrightError
from lanewright.project import Device, Project
from lanewright.queue.guard.rules import check_allowances
from lanewright.queue.series_boot import BootSpec, EqualitySpec
from lanewright.queue.series_image import ImageSpec, check_image
from lanewright.queue.series_machine import MachineSpec, check_machine
from lanewright.queue.series_model import ModelSpec, check_model
from lanewright.queue.series_window import WindowSpec, check_window
from lanewright.store.objects import FULL_ID
from lanewright.tomlfile import load

KINDS = 3
ENTRY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


class EntrySpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One ``[[entry]]``: an own patch, a pull request, or an overlay.

    Attributes:
        patch: File below ``patches/``, or one file per range of pins
            (``{">=0.31" = "own/a.patch", "0.30" = "own/b.patch"}``).
        pull: Number of a pull request of upstream.
        head: Its commit; it moves only by ``lanewright add NUMBER --update``. Without it and
            ``base`` the pull request is not pinned yet, and nothing can be built.
        base: The commit that it is a change of: its merge base, or the head that it is stacked on.
        overlay: Folder below ``overlay/``: a package (laid beside ``vllm/``) or ``tree``
            (laid into it).
        name: Name in reports; by default that of the file or folder. Needed for ranges.
        select: Paths (``vllm/a.py``) or hunks (``vllm/a.py:1a2b3c4d5e``) to take of a patch or
            pull request; without it all is taken.
        landed: Hunks that upstream took in with edits, by a person's decision.
        split: Whether a renamed file's two halves may be chosen apart.
        missing: What becomes of hunks for files that are not there: ``skip`` leaves them out.
        allow: Rules that the entry may break, each with a path, such as ``bidi:vllm/a.py``.
    """

    patch: str | dict[str, str] | None = None
    pull: int | None = None
    head: str | None = None
    base: str | None = None
    overlay: str | None = None
    name: str | None = None
    select: list[str] | None = None
    landed: list[str] | None = None
    split: bool = False
    missing: Literal["skip"] | None = None
    allow: list[str] | None = None

    @property
    def is_pinned(self) -> bool:
        """Whether it is no pull request, or one whose commits are named."""
        return self.pull is None or self.head is not None


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One way to serve one model on one machine.

    Attributes:
        title: One line for people.
        device: What it runs on.
        pin: Upstream it stands on: ``release:0.32.0``, or ``git:`` and a commit's full id.
        release: With a git pin, the release whose compiled files a boot here uses, and whose
            version chooses among patches for ranges of pins.
        track: What ``rebase`` takes the lane to when it is not told: ``release``, ``nightly``, a
            branch, or a tag pattern such as ``tag:v0.32.*``.
        model: What it serves.
        engine: vLLM's engine arguments by their Python names.
        entry: What is carried, in the order it is applied.
        seams: Per seam the entry whose code is used there, or ``own``.
        watch: Numbers of pull requests that are fetched, tried and reported, and not carried.
        image: Where an image has what the lane changes; without it the lane has no layer.
        boot: What its boots stand on.
        equality: How much of its answers is compared.
        machine: What it is planned for, where that is not this machine.
        window: How a night has the machine that serves for a while.
    """

    title: str
    device: Device
    pin: str
    release: str | None = None
    track: str | None = None
    model: ModelSpec
    engine: dict[str, Any] = {}
    entry: list[EntrySpec] = []
    seams: dict[str, str] = {}
    watch: list[Annotated[int, msgspec.Meta(ge=1)]] = []
    image: ImageSpec | None = None
    boot: BootSpec = BootSpec()
    equality: EqualitySpec = EqualitySpec()
    machine: MachineSpec | None = None
    window: WindowSpec | None = None


def load_series(project: Project, lane: str) -> Series:
    """Read and check the series of a lane.

    Raises:
        LanewrightError: Unknown lane, bad file, an entry that is not exactly one of a patch, a pull
            request and an overlay, two entries of one name, a model that is named twice or not at
            all, or a path in an image that is none.
    """
    path = project.series_file(lane)
    return check_series(path, load(path, Series))


def check_series(path: Path, series: Series) -> Series:
    """Check what types alone do not say.

    Raises:
        LanewrightError: As ``load_series`` says.
    """
    check_model(series.model, f"{path}: [model]")
    check_machine(series.machine, series.model.experts, str(path))
    check_window(series.window, str(path))
    if series.image:
        check_image(series.image, f"{path}: [image]")
    _check_plain(series.engine, f"{path}: engine")
    _check_plain(series.equality.baseline, f"{path}: equality.baseline")
    names: set[str] = set()
    for number, entry in enumerate(series.entry, 1):
        place = f"{path}: entry {number}"
        if [entry.patch, entry.pull, entry.overlay].count(None) != KINDS - 1:
            raise LanewrightError(f"{place}: needs exactly one of `patch`, `pull` and `overlay`")
        _check_pull(entry, place)
        if entry.select == []:
            raise LanewrightError(f"{place}: `select` is empty, so nothing would be carried")
        if entry.overlay is not None and (
            entry.select or entry.landed or entry.split or entry.missing
        ):
            raise LanewrightError(f"{place}: `select` chooses parts of a patch, not of an overlay")
        _check_allow(entry, place)
        if isinstance(entry.patch, dict) and not entry.name:
            raise LanewrightError(f"{place}: one patch per range of pins needs a `name` of its own")
        name = name_of(entry)
        if not ENTRY_NAME.fullmatch(name):
            raise LanewrightError(f"{place}: {name!r} is no name for an entry")
        if name in names:
            raise LanewrightError(f"{place}: a second entry named {name!r}; give it a `name`")
        names.add(name)
    return series


def _check_pull(entry: EntrySpec, place: str) -> None:
    if entry.pull is None:
        if entry.head or entry.base:
            raise LanewrightError(f"{place}: `head` and `base` belong to a `pull`")
        return
    if entry.pull < 1:
        raise LanewrightError(f"{place}: {entry.pull} is no number of a pull request")
    if entry.head is None and entry.base is None:
        return
    for key, value in (("head", entry.head), ("base", entry.base)):
        if not value or not FULL_ID.fullmatch(value):
            raise LanewrightError(
                f"{place}: pull {entry.pull} needs `{key}`, a commit's full id (has: {value!r})",
                hint=f"lanewright add {entry.pull}",
            )


def _check_allow(entry: EntrySpec, place: str) -> None:
    if entry.overlay is not None and entry.allow:
        raise LanewrightError(f"{place}: `allow` is for a patch or pull request, not an overlay")
    check_allowances(entry.allow or (), place)


def _check_plain(value: object, place: str) -> None:
    """Refuse what a boot could not hand on as JSON and as a flag.

    Raises:
        LanewrightError: A date, a time, or a number that is none.
    """
    match value:
        case dict():
            for name, each in value.items():
                _check_plain(each, f"{place}.{name}")
        case list():
            for each in value:
                _check_plain(each, place)
        case float() if not math.isfinite(value):
            raise LanewrightError(f"{place}: {value} is no number that vLLM could take")
        case date() | time():
            raise LanewrightError(f"{place}: {value} is a date or time; put it in quotes")


def name_of(entry: EntrySpec) -> str:
    """The entry's name in reports."""
    if entry.name:
        return entry.name
    if entry.overlay is not None:
        return entry.overlay
    if entry.pull is not None:
        return str(entry.pull)
    return str(entry.patch).rpartition("/")[2].removesuffix(".patch")


def patch_for(entry: EntrySpec, version: str, place: str) -> str:
    """The patch file that an entry uses on a pin.

    Args:
        entry: An entry with a ``patch``.
        version: The pin's version, e.g. ``0.32.0``.
        place: File and entry, for messages.

    Raises:
        LanewrightError: No range fits, or several do.
    """
    patch = entry.patch
    if isinstance(patch, Mapping):
        fitting = [
            file
            for key, file in patch.items()
            if _range(key, place).contains(version, prereleases=True)
        ]
        if len(fitting) != 1:
            count = "none" if not fitting else f"{len(fitting)}"
            raise LanewrightError(
                f"{place}: {count} of its patches fit the pin {Version(version)}, where one must"
                f" (ranges: {', '.join(patch)})"
            )
        return fitting[0]
    return patch or ""


def _range(key: str, place: str) -> SpecifierSet:
    """A key such as ``>=0.31`` or ``0.30`` (which means any 0.30.x)."""
    try:
        return SpecifierSet(f"=={key}.*" if key[:1].isdigit() else key)
    except ValueError as error:
        raise LanewrightError(f"{place}: {key!r} is no range of versions") from error
