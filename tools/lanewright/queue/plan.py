"""A series together with everything it names, read from disk; nothing applied yet."""

import hashlib
from dataclasses import dataclass

import msgspec

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.inputs import Input, PatchInput, overlay_input, patch_input
from lanewright.queue.lock import Lock
from lanewright.queue.pin import release_of
from lanewright.queue.series import Series, load_series, name_of, patch_for
from lanewright.store.release import Release


@dataclass(frozen=True)
class Plan:
    """A series with everything it names read from disk; nothing applied yet.

    Attributes:
        lane: The lane's name.
        series: What people want.
        inputs: In series order.
        digest: sha256 over the pin, every input and ``[image]``; the lock of equal inputs is still good.
    """

    lane: str
    series: Series
    inputs: tuple[Input, ...]
    digest: str


def plan(project: Project, lane: str) -> Plan:
    """Read a series and everything it names.

    Raises:
        LanewrightError: Unknown lane, bad series, missing patch or overlay, two entries that
            claim the same.
    """
    series = load_series(project, lane)
    file = project.series_file(lane).relative_to(project.root)
    version = release_of(project, series.device, series.pin, place=f"{file}: pin").version
    inputs: list[Input] = []
    for number, entry in enumerate(series.entry, 1):
        place, name = f"{file}: entry {number}", name_of(entry)
        if entry.overlay is not None:
            inputs.append(overlay_input(project, name, entry.overlay, place))
        else:
            chosen = patch_for(entry, version, place)
            inputs.append(patch_input(project, name, chosen, entry.select or [], place))
    _require_apart(inputs)
    stated: list[object] = [
        project.upstream.releases.get(series.device),
        series.pin,
        [[i.name, i.digest, i.select if isinstance(i, PatchInput) else None] for i in inputs],
    ]
    if series.image:
        stated.append(series.image)
    digest = hashlib.sha256(msgspec.json.encode(stated)).hexdigest()
    return Plan(lane, series, tuple(inputs), digest)


def refs_of(project: Project, planned: Plan) -> list[Release]:
    """Every release that a plan needs: its pin's, then those its patches were made on."""
    file = f"series/{planned.lane}.toml: pin"
    named = [(planned.series.pin, file)]
    named += [
        (given.base_ref, f"{given.patch.path.relative_to(project.root)}: Base")
        for given in planned.inputs
        if isinstance(given, PatchInput)
    ]
    device = planned.series.device
    releases = [release_of(project, device, ref, place=place) for ref, place in named]
    return list(dict.fromkeys(releases))


def _require_apart(inputs: list[Input]) -> None:
    """Two entries with one claim exclude each other."""
    holders: dict[str, Input] = {}
    for given in inputs:
        for claim in given.claims if isinstance(given, PatchInput) else ():
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
