"""Which hunks of a pull request would be refused, were all of it added to a lane."""

from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.guard.guarding import refused_of
from lanewright.queue.guard.path_twins import Brought, twins
from lanewright.queue.guard.rules import Finding
from lanewright.queue.inputs import Choice
from lanewright.queue.lock import read_lock
from lanewright.queue.pin import read_pin, resolve_pin
from lanewright.queue.pull.offered import Offered
from lanewright.queue.series import Series
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, exists, files


def refused_of_offer(
    project: Project, places: Places, lane: str, series: Series, found: Offered
) -> tuple[Finding, ...]:
    """What of a pull request a rule keeps out and the lane does not allow.

    Twins are sought in the lane's tree as it is locked, or in its pin's where it is not.

    Raises:
        LanewrightError: The lane's pin cannot be had.
    """
    on_base, entry = found.on_base, f"#{found.number}"
    units = frozenset(unit.id for unit in on_base.units)
    alone = refused_of(on_base, units, Choice(), f"lane {lane}: {entry}")
    sides = {file.path: (on_base.sides[file.path], file.new_mode) for file in on_base.diff.files}
    removed = {path for path, (_, mode) in sides.items() if mode is None}
    hunks = {unit.path: unit.id for unit in on_base.units}
    tree = files(Repository(places.objects), _tree(project, places, lane, series)).keys()
    brought = [
        Brought(path, hunks[path], entry)
        for path, (before, mode) in sides.items()
        if before is None and mode and path not in tree
    ]
    alike = [finding for _, finding in twins(tree - removed, brought)] if brought else []
    spec = next((each for each in series.entry if each.pull == found.number), None)
    allowed = frozenset((spec and spec.allow) or ())
    return tuple(each for each in (*alone, *alike) if each.final or each.allowance not in allowed)


def _tree(project: Project, places: Places, lane: str, series: Series) -> TreeId:
    lock = read_lock(project.lock_file(lane))
    if lock and exists(Repository(places.objects), [lock.tree]):
        return lock.tree
    place = f"series/{lane}.toml: pin"
    spec = read_pin(project, series.device, series.pin, place=place, release=series.release)
    return resolve_pin(project, places, spec).tree
