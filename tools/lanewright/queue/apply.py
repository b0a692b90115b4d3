"""A plan, carried out in the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from lanewright.image.layer import LayerError, layer_content
from lanewright.image.oci import digest_of
from lanewright.image.told_version import told_version
from lanewright.places import Places
from lanewright.project import Project
from lanewright.queue.base import base_named
from lanewright.queue.carried import Carried, Change, moved_by
from lanewright.queue.carry import carry_change
from lanewright.queue.closure.closed import require_closed
from lanewright.queue.fix.fixes import Fix
from lanewright.queue.guard.guarded import require_guarded
from lanewright.queue.inputs import ChangeInput, Input, OverlayInput, PatchInput
from lanewright.queue.known.depends import Lane
from lanewright.queue.known.known import Memory
from lanewright.queue.laid import carry_overlay
from lanewright.queue.lock import (
    SCHEMA,
    Lock,
    LockedEntry,
    LockedLayer,
    LockedPull,
    sealed,
)
from lanewright.queue.merge.gates import GateError
from lanewright.queue.merge.merge import merging
from lanewright.queue.pin import Pin, resolve_pin
from lanewright.queue.plan import Plan, base_of
from lanewright.queue.pull.pulldiff import pull_diff
from lanewright.queue.use.deadweight import require_used
from lanewright.store.diffing import diffing
from lanewright.store.extract import pull_trees
from lanewright.store.git import Repository
from lanewright.store.objects import EMPTY, TreeId


@dataclass(frozen=True)
class Applied:
    """A plan, carried out in the store; nothing written beside objects.

    Attributes:
        lock: What it came to.
        carried: Every entry, in order.
        again: Fixes that were merged again and are to be recorded with the lock.
        fault: What is wrong with the entries together, where that was to be told.
    """

    lock: Lock
    carried: tuple[Carried, ...]
    again: tuple[Fix, ...]
    fault: GateError | None = None

    @property
    def conflicts(self) -> tuple[Carried, ...]:
        """The entries that need a person, and are left out."""
        return tuple(each for each in self.carried if each.conflicts)


@diffing()
@merging()
def apply_plan(
    project: Project,
    places: Places,
    planned: Plan,
    *,
    keep_going: bool = False,
    in_part: bool = False,
    remembers: bool = False,
    tells: bool = False,
) -> Applied:
    """Carry every entry; one that conflicts is left out and the next are still tried.

    Args:
        project: The user's project.
        places: Store and state.
        planned: What to carry.
        keep_going: Whether the lane is wanted without the entries that conflict, too.
        in_part: Whether it is only a part of a lane, so that what uses an entry may be left out.
        remembers: Whether what earlier builds made of entries may be taken, and kept for later
            ones; whoever needs their changes, or proves something, makes them anew.
        tells: Whether what is wrong with the entries together is to be told with them, not raised.

    Raises:
        LanewrightError: A source cannot be had, a patch does not match its base, a gate failed, or
            a changed file cannot be in the layer that the series asks for.
    """
    pin = resolve_pin(project, places, planned.pin)
    repository = Repository(places.objects)
    tree = pin.tree
    carried: list[Carried] = []
    touched: dict[str, list[str]] = {}
    known = Memory(Lane(project, places, planned, pin), is_used=remembers)
    for given in planned.inputs:
        result = known.carried(given, tree)
        result = result or _carried(project, places, planned, given, pin, tree, touched)
        known.passed(given, tree, result)
        for path in moved_by(repository, tree, result):
            touched.setdefault(path, []).append(given.name)
        tree = result.entry.tree
        carried.append(result)
    known.close()
    ends, option = (pin.tree, tree), project.option(planned.lane)
    fault: GateError | None = None
    try:
        require_guarded(repository, planned.lane, planned.inputs, carried, ends, option)
        built = [_with_ops(each) for each in carried] if _from_source(planned) else carried
        require_closed(repository, planned.lane, planned.inputs, built, ends, option)
        if not in_part:
            require_used(project, repository, planned, carried, pin.tree)
    except GateError as error:
        if not tells:
            raise
        fault = error
    conflicts = any(each.conflicts for each in carried)
    again = tuple(fix for each in carried if not each.conflicts for fix in each.again)
    lock = Lock(
        schema=SCHEMA,
        lane=planned.lane,
        inputs=planned.digest,
        pin=pin,
        entries=[each.entry for each in carried],
        tree=tree,
        base=base_named(planned.series),
        layer=UNSET
        if (conflicts and not keep_going) or fault
        else _layer(repository, planned, pin, tree, touched),
    )
    return Applied(sealed(lock), tuple(carried), again, fault)


def _carried(
    project: Project,
    places: Places,
    planned: Plan,
    given: Input,
    pin: Pin,
    tree: TreeId,
    touched: Mapping[str, Sequence[str]],
) -> Carried:
    repository = Repository(places.objects)
    if isinstance(given, OverlayInput):
        return carry_overlay(repository, given, tree)
    change, blank = change_of(project, places, planned, given)
    return carry_change(repository, given, change, blank, pin, tree, touched)


def change_of(
    project: Project, places: Places, planned: Plan, given: ChangeInput
) -> tuple[Change, LockedEntry]:
    """What an entry changes, and what the lock says of it before it is carried.

    Raises:
        LanewrightError: Its source cannot be had.
    """
    blank = LockedEntry(
        name=given.name,
        kind="patch",
        source="",
        digest=given.digest,
        tree=EMPTY,
        claims=list(given.claims),
    )
    if isinstance(given, PatchInput):
        base = resolve_pin(project, places, base_of(project, planned, given))
        source = given.patch.path.relative_to(project.root).as_posix()
        blank = replace(blank, source=source, base=base)
        return Change(given.patch.diff, base.tree, base.ref), blank
    remote, number = project.upstream.remote, f"#{given.number}"
    trees = pull_trees(places, remote, given.base, given.head, name=number)
    pull = LockedPull(given.number, given.head, given.base, trees.outside)
    repository = Repository(places.objects)
    diff = pull_diff(repository, trees.base, trees.head, number, trees.submodules)
    blank = replace(blank, kind="pull", source=diff.source, pull=pull)
    return Change(diff, trees.base, given.base[:12], trees.ops), blank


def _layer(
    repository: Repository,
    planned: Plan,
    pin: Pin,
    tree: TreeId,
    touched: Mapping[str, Sequence[str]],
) -> LockedLayer | UnsetType:
    if planned.series.image is None or _from_source(planned):
        return UNSET
    root = planned.series.image.site_packages
    try:
        version = told_version(planned.lane, pin, tree)
        content = layer_content(repository, pin.tree, tree, root, version)
    except LayerError as error:
        names = " and ".join(touched.get(error.path, ()))
        place = f"series/{planned.lane}.toml ({names}): {error.path}"
        raise LayerError(place, error.why) from error
    return LockedLayer(digest_of(content), len(content), root, version)


def _from_source(planned: Plan) -> bool:
    """Whether what the lane changes is compiled, with what its entries change outside ``vllm/``."""
    return planned.series.image is not None and planned.series.image.kind == "source"


def _with_ops(carried: Carried) -> Carried:
    """An entry whose ops are built with the lane, so that its hunks may call them."""
    chosen = carried.chosen and replace_fields(carried.chosen, ops=())
    return replace_fields(carried, chosen=chosen)


def told_conflicts(applied: Applied) -> str:
    """The conflicts of a plan, for people: each entry, file, hunk and cause."""
    entries = [each.entry.name for each in applied.conflicts]
    lines = [f"lane {applied.lock.lane}: in conflict: {', '.join(entries)}"]
    for each in applied.conflicts:
        lines += [
            f"  {each.entry.name}: {hunk.path}, hunk {hunk.id}"
            f"{f' in {hunk.symbol}' if hunk.symbol else ''}: {hunk.outcome}; {hunk.cause}"
            for hunk in each.entry.hunks
            if hunk.open
        ]
    return "\n".join(lines)
