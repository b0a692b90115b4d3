"""A series together with everything it names, read from disk; nothing applied yet."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.fixes import fix_of
from lanewright.queue.inputs import (
    ChangeInput,
    Input,
    OverlayInput,
    PatchInput,
    overlay_input,
    patch_input,
    pull_input,
)
from lanewright.queue.lock import Lock
from lanewright.queue.pin import PinSpec, read_pin
from lanewright.queue.recipe import Recipe
from lanewright.queue.series import Series, load_series, name_of, patch_for


@dataclass(frozen=True)
class Plan:
    """A series with everything it names read from disk; nothing applied yet.

    Attributes:
        lane: The lane's name.
        series: What people want.
        pin: What it stands on.
        inputs: In series order.
        digest: sha256 over the pin, every input and ``[image]``; the lock of equal inputs is still good.
    """

    lane: str
    series: Series
    pin: PinSpec
    inputs: tuple[Input, ...]
    digest: str


def plan(project: Project, lane: str) -> Plan:
    """Read a series and everything it names.

    Raises:
        LanewrightError: Unknown lane, bad series, missing patch or overlay, two entries that
            claim the same.
    """
    return plan_of(project, lane, load_series(project, lane))


def plan_of(project: Project, lane: str, series: Series) -> Plan:
    """Read everything that a series names, be it on disk or not.

    Raises:
        LanewrightError: As ``plan`` says.
    """
    file = f"series/{lane}.toml"
    pin = read_pin(project, series.device, series.pin, place=f"{file}: pin", release=series.release)
    inputs: list[Input] = []
    for number, entry in enumerate(series.entry, 1):
        place, name = f"{file}: entry {number}", name_of(entry)
        if entry.overlay is not None:
            inputs.append(overlay_input(project, name, entry.overlay, place))
        elif entry.pull is not None:
            inputs.append(pull_input(project, name, entry, place))
        else:
            chosen = patch_for(entry, pin.release.version, place)
            inputs.append(patch_input(project, name, chosen, entry, place))
    _require_apart(inputs)
    return Plan(lane, series, pin, tuple(inputs), _digest(series, pin, inputs))


def with_fixes(project: Project, planned: Plan, again: Mapping[str, Sequence[Recipe]]) -> Plan:
    """The plan as it will be read once these fixes are recorded.

    Args:
        project: Where fixes lie.
        planned: The plan without them.
        again: Recipes by entry.
    """
    inputs: list[Input] = []
    for given in planned.inputs:
        if not isinstance(given, OverlayInput) and given.name in again:
            more = [fix_of(project, given.name, recipe) for recipe in again[given.name]]
            files = {fix.file: fix for fix in (*given.fixes, *more)}
            fixes = tuple(files[name] for name in sorted(files))
            inputs.append(replace(given, fixes=fixes))
        else:
            inputs.append(given)
    digest = _digest(planned.series, planned.pin, inputs)
    return replace(planned, inputs=tuple(inputs), digest=digest)


def _digest(series: Series, pin: PinSpec, inputs: Sequence[Input]) -> str:
    stated: list[object] = [
        pin.release.distribution,
        series.pin,
        [_stated(given) for given in inputs],
    ]
    if series.release:
        stated.append(series.release)
    if series.image:
        stated.append(series.image)
    return hashlib.sha256(msgspec.json.encode(stated)).hexdigest()


def _stated(given: Input) -> list[object]:
    """What of an entry moves the lane's tree."""
    if isinstance(given, OverlayInput):
        return [given.name, given.digest, None]
    more: list[object] = []
    if given.choice.landed or given.choice.split or given.fixes:
        more = [given.choice.landed, given.choice.split, [fix.digest for fix in given.fixes]]
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


def _require_apart(inputs: list[Input]) -> None:
    """Two entries with one claim exclude each other."""
    holders: dict[str, Input] = {}
    for given in inputs:
        for claim in given.claims if isinstance(given, ChangeInput) else ():
            other = holders.setdefault(claim, given)
            if other is not given:
                raise LanewrightError(
                    f"{given.place} ({given.name}) claims {claim!r}, and so does {other.place}"
                    f" ({other.name}); only one of them can be carried",
                    hint="take one of the two out of the series",
                )


def drift(planned: Plan, lock: Lock | None) -> str:
    """What a series says that its lock does not, for people; empty when they agree."""
    if lock is None:
        return "there is no lock yet"
    if lock.inputs == planned.digest:
        return ""
    changes = []
    if lock.pin.ref != planned.series.pin:
        changes.append(f"pin {lock.pin.ref} -> {planned.series.pin}")
    locked = {entry.name: entry.digest for entry in lock.entries}
    wanted = {given.name: given.digest for given in planned.inputs}
    changes += [f"{name} added" for name in wanted.keys() - locked.keys()]
    changes += [f"{name} dropped" for name in locked.keys() - wanted.keys()]
    changes += [
        f"{name} edited" for name in wanted.keys() & locked.keys() if wanted[name] != locked[name]
    ]
    laid = lock.layer.site_packages if lock.layer else None
    asked = planned.series.image.site_packages if planned.series.image else None
    if laid != asked:
        changes.append(f"[image] site_packages {laid or 'none'} -> {asked or 'none'}")
    return "; ".join(sorted(changes)) or "order or selection changed"
