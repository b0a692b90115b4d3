"""Whether what a lane takes of its entries is complete; told of all of them together."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from lanewright.queue.carried import Carried, Chosen
from lanewright.queue.closure.asked import Asked, view_of
from lanewright.queue.closure.closure import Closure, closure_of, dependents
from lanewright.queue.closure.compiled import Uncompiled, uncompiled
from lanewright.queue.closure.unclosed import Unclosed, closure_error
from lanewright.queue.closure.view import View
from lanewright.queue.inputs import Input
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, files, read_blobs
from lanewright.terminal import stage

MANY = 200


def require_closed(
    repository: Repository,
    lane: str,
    inputs: Sequence[Input],
    carried: Sequence[Carried],
    ends: tuple[TreeId, TreeId],
    option: str,
) -> None:
    """See that every chosen hunk finds its names in the lane's tree, whoever brings them there.

    Args:
        repository: The store.
        lane: The lane's name.
        inputs: Its entries.
        carried: What became of each; what an entry would bring that waits for a person counts.
        ends: The pin's tree, and the lane's with all of them.
        option: What names the lane in a command.

    Raises:
        ClosureError: Names are missing; all are told.
    """
    waiting = [each.entry.subset for each in carried if each.conflicts]
    trees = [*ends, *filter(None, waiting)]
    found = []
    for given, each in zip(inputs, carried, strict=True):
        chosen = each.chosen
        if chosen is None or each.conflicts or (chosen.taken >= chosen.offered and not chosen.ops):
            continue
        pin, final, *beside = (view_of_tree(repository, one, chosen.on_base.sides) for one in trees)
        asked = Asked(chosen.on_base, chosen.taken, chosen.offered, final, beside)
        with _announced(given.name, len(chosen.on_base.sides)):
            closure = closure_of(asked) or Closure((), ())
        calls = [*uncompiled(chosen, pin, final), *_calls_then(chosen, closure, pin)]
        if closure.lacks or calls:
            wanting = [lack.unit for lack in closure.lacks] + [call.unit for call in calls]
            found.append(Unclosed(given, closure, calls, dependents(asked, wanting)))
    if found:
        stopped = [each.entry.name for each in carried if each.conflicts]
        raise closure_error(lane, found, stopped, option)


def _calls_then(chosen: Chosen, closure: Closure, pin: View) -> list[Uncompiled]:
    """What the chosen hunks would call of compiled ops once what they lack is there, too."""
    if not (closure.further and chosen.ops):
        return []
    grown = replace(chosen, taken=chosen.taken | {unit.id for unit in closure.further})
    then = uncompiled(grown, pin, view_of(chosen.on_base, grown.taken))
    return [call for call in then if call.unit.id in chosen.taken]


def _announced(name: str, count: int) -> AbstractContextManager[None]:
    """Say what takes so long where a change has very many files."""
    text = f"{name}: reading its {count} files for what the chosen hunks use"
    return stage(text) if count > MANY else nullcontext()


def view_of_tree(repository: Repository, tree: TreeId, changed: Collection[str]) -> View:
    """The files of a tree; ``changed`` are those in which a class may get what it lacks."""
    listed = files(repository, tree)

    def read(path: str) -> bytes:
        blob = listed[path].blob
        return read_blobs(repository, [blob])[blob]

    return View(listed, read, changed)
