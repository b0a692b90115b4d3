"""A series together with everything it names, read from disk; nothing applied yet."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from lanewright.project import Project
from lanewright.queue.edit.unpinned import require_pinned
from lanewright.queue.inputs import (
    Input,
    OverlayInput,
    PatchInput,
    PullInput,
    overlay_input,
    patch_input,
    pull_input,
)
from lanewright.queue.pin import PinSpec, read_pin
from lanewright.queue.series import Series, load_series, name_of, patch_for
from lanewright.queue.series_image import LAYER_FORM
from lanewright.queue.use.claims import require_apart
from lanewright.queue.use.laid_seams import with_seams
from lanewright.queue.use.plugged import require_plugged
from lanewright.transaction.reading import of_one_state


@dataclass(frozen=True)
class Plan:
    """A series with everything it names read from disk; nothing applied yet.

    Attributes:
        lane: The lane's name.
        series: What people want.
        pin: What it stands on.
        inputs: In series order.
        digest: sha256 over the pin, every input but the fixes, ``[image]`` and ``[seams]``.
    """

    lane: str
    series: Series
    pin: PinSpec
    inputs: tuple[Input, ...]
    digest: str


def plan(project: Project, lane: str, *, apart: bool = True) -> Plan:
    """Read a series and everything it names.

    Args:
        project: The user's project.
        lane: The lane's name.
        apart: Whether its entries must not claim the same; whoever carries them needs that.

    Raises:
        UnpinnedError: A pull request names no commits yet.
        LanewrightError: Unknown lane, bad series, missing patch or overlay, two entries that
            claim the same, a seam that nothing fits.
    """
    return of_one_state(
        project, lambda: plan_of(project, lane, load_series(project, lane), apart=apart)
    )


def plan_of(project: Project, lane: str, series: Series, *, apart: bool = True) -> Plan:
    """Read everything that a series names, be it on disk or not.

    Raises:
        LanewrightError: As ``plan`` says.
    """
    file = f"series/{lane}.toml"
    pin = read_pin(project, series.device, series.pin, place=f"{file}: pin", release=series.release)
    require_plugged(project, lane, series)
    require_pinned(project, lane, series)
    inputs: list[Input] = []
    for number, entry in enumerate(series.entry, 1):
        place, name = f"{file}: entry {number}", name_of(entry)
        if entry.overlay is not None:
            overlay = overlay_input(project, name, entry.overlay, place)
            inputs.append(with_seams(project, lane, series, overlay))
        elif entry.pull is not None:
            inputs.append(pull_input(project, name, entry, place))
        else:
            chosen = patch_for(entry, pin.release.version, place)
            inputs.append(patch_input(project, name, chosen, entry, place))
    if apart:
        require_apart(inputs)
    return Plan(lane, series, pin, tuple(inputs), inputs_digest(series, pin, inputs))


def inputs_digest(series: Series, pin: PinSpec, inputs: Sequence[Input]) -> str:
    """sha256 over the pin, every input but the fixes, ``[image]`` and ``[seams]``."""
    stated: list[object] = [
        pin.release.distribution,
        series.pin,
        [_stated(given) for given in inputs],
    ]
    if series.release:
        stated.append(series.release)
    if series.image:
        made = msgspec.structs.replace(series.image, run=None, arch_list=None)
        stated += [made] if made.kind == "source" else [{"layer": LAYER_FORM}, made]
    if series.seams:
        stated.append({"seams": sorted(series.seams.items())})
    return hashlib.sha256(msgspec.json.encode(stated)).hexdigest()


def _stated(given: Input) -> list[object]:
    """What of an entry moves the lane's tree."""
    if isinstance(given, OverlayInput):
        return [given.name, given.digest, None]
    more: list[object] = []
    if given.choice.landed or given.choice.split:
        more = [given.choice.landed, given.choice.split]
    if given.choice.skips_missing:
        more.append({"missing": "skip"})
    if isinstance(given, PullInput) and given.claims:  # a patch's are in its digest
        more.append({"claims": given.claims})
    if given.choice.allow:
        more.append({"allow": given.choice.allow})
    return [given.name, given.digest, given.choice.select, *more]


def pins_of(project: Project, planned: Plan) -> list[PinSpec]:
    """The lane's pin, then what its own patches were made on."""
    bases = [base_of(project, planned, g) for g in planned.inputs if isinstance(g, PatchInput)]
    return list(dict.fromkeys([planned.pin, *bases]))


def base_of(project: Project, planned: Plan, given: PatchInput) -> PinSpec:
    """What an own patch was made on.

    Raises:
        LanewrightError: Its ``Base:`` is no pin.
    """
    place = f"{given.patch.path.relative_to(project.root)}: Base"
    release = planned.pin.release.version if given.base_ref.startswith("git:") else None
    return read_pin(project, planned.series.device, given.base_ref, place=place, release=release)
