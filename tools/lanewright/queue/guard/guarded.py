"""What of a lane's entries is refused; told of all of them together."""

from collections.abc import Sequence

from lanewright.queue.carried import Carried, brought_by
from lanewright.queue.guard.guard_error import Found, GuardError
from lanewright.queue.guard.path_twins import Brought, twins
from lanewright.queue.guard.rules import Finding
from lanewright.queue.inputs import Input, OverlayInput
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, files


def require_guarded(
    repository: Repository,
    lane: str,
    inputs: Sequence[Input],
    carried: Sequence[Carried],
    ends: tuple[TreeId, TreeId],
    option: str,
) -> None:
    """See that nothing that is chosen is refused, by itself or for what others bring.

    Args:
        repository: The store.
        lane: The lane's name.
        inputs: Its entries.
        carried: What became of each.
        ends: The pin's tree, and the lane's with all of them.
        option: What names the lane in a command.

    Raises:
        GuardError: Something is; all is told.
    """
    alike = _twins(repository, inputs, carried, ends)
    found: list[Found] = []
    for given, each in zip(inputs, carried, strict=True):
        found += [(given, finding) for finding in each.refused]
        allowed = () if isinstance(given, OverlayInput) else given.choice.allow
        found += [
            (given, finding)
            for brought, finding in alike
            if brought.entry == given.name and finding.allowance not in allowed
        ]
    if found:
        raise GuardError(lane, found, option)


def _twins(
    repository: Repository,
    inputs: Sequence[Input],
    carried: Sequence[Carried],
    ends: tuple[TreeId, TreeId],
) -> list[tuple[Brought, Finding]]:
    brought: list[Brought] = []
    removed: set[str] = set()
    all_brings = [tuple(brought_by(each)) for each in carried]
    if not any(all_brings):
        return []
    pin, tree = (files(repository, each).keys() for each in ends)
    for given, each, brings in zip(inputs, carried, all_brings, strict=True):
        waits = bool(each.conflicts or each.refused)
        for path, hunk, is_new in brings:
            if is_new and path not in pin and (waits or path in tree):
                brought.append(Brought(path, hunk, given.name))
            elif waits and not is_new:
                removed.add(path)
    return list(twins(tree - removed, brought)) if brought else []
