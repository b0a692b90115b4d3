"""Entries that only bring modules which nothing uses: carried dead, so refused."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.queue.carried import Carried, moved_by
from lanewright.queue.closure.names import module_of
from lanewright.queue.inputs import ChangeInput, OverlayInput, PatchInput
from lanewright.queue.plan import Plan
from lanewright.queue.use.imported import modules_named
from lanewright.queue.use.prfile import pr_file
from lanewright.queue.use.seams import ADAPTERS
from lanewright.queue.use.skipped import require_some
from lanewright.queue.use.unused import DeadWeightError, Unused
from lanewright.store.git import Repository
from lanewright.store.objects import TreeId, files, read_blobs
from lanewright.store.safepath import check


@dataclass(frozen=True)
class _Suspect:
    """An entry that only adds modules.

    Attributes:
        given: The entry.
        modules: Dotted names of what it adds, by path.
    """

    given: ChangeInput
    modules: Mapping[str, str]


def require_used(
    project: Project,
    repository: Repository,
    planned: Plan,
    carried: Sequence[Carried],
    pin: TreeId,
) -> None:
    """See that something uses each entry that changes no existing file.

    An entry is dead weight when all that it does is to add Python files, no other file of the
    lane's tree imports one of them, no seam of the series names it, and no test does. What is no
    Python, such as a table of kernel settings, is found by its name at run time, so an entry that
    adds any is not judged; nor is one with a script whose name no import could say. What an entry
    adds that waits for a person counts as a user; an adapter of our overlay does not, for it uses
    an entry only where a seam names it.

    Args:
        project: The user's project.
        repository: The store.
        planned: The lane.
        carried: What became of its entries.
        pin: The tree that they were put onto.

    Raises:
        DeadWeightError: Some are not used; all are told.
        GateError: All that is chosen of an entry is left out.
        LanewrightError: A test that is named is not there.
    """
    option = project.option(planned.lane)
    for given, result in zip(planned.inputs, carried, strict=True):
        require_some(given, result.entry.hunks, option)
    suspects = [
        each
        for each in _suspects(repository, planned, carried, pin)
        if each.given.name not in planned.series.seams.values() and not _tested(project, each)
    ]
    if not suspects:
        return
    trees = [carried[-1].entry.tree]
    trees += [e.entry.subset for e in carried if e.conflicts and e.entry.subset]
    dead = [each for each in suspects if not _used(repository, each, trees)]
    if dead:
        found = [_unused(project, each) for each in dead]
        raise DeadWeightError(planned.lane, found, planned.series.seams, option)


def _suspects(
    repository: Repository, planned: Plan, carried: Sequence[Carried], pin: TreeId
) -> Iterator[_Suspect]:
    before = pin
    for given, each in zip(planned.inputs, carried, strict=True):
        after = each.entry.tree
        if not isinstance(given, OverlayInput) and before != after:
            changed = moved_by(repository, before, each)
            if all(is_new and _is_module(path) for path, is_new in changed.items()):
                yield _Suspect(given, {path: module_of(path) for path in changed})
        before = after


def _is_module(path: str) -> bool:
    return path.endswith(".py") and all(map(str.isidentifier, module_of(path).split(".")))


def _used(repository: Repository, suspect: _Suspect, trees: Sequence[TreeId]) -> bool:
    """Whether a file that the entry does not add imports a module of it."""
    wanted = set(suspect.modules.values())
    likely = [_likely(module) for module in sorted(wanted)]
    for tree in trees:
        for path, file in files(repository, tree).items():
            if not path.endswith(".py") or path in suspect.modules or path.startswith(ADAPTERS):
                continue
            content = read_blobs(repository, [file.blob])[file.blob]
            if any(
                last in content and (parent in content or path.startswith(folder))
                for last, parent, folder in likely
            ) and wanted.intersection(modules_named(path, content)):
                return True
    return False


def _likely(module: str) -> tuple[bytes, bytes, str]:
    """What a file that imports a module says: its name, and its package's unless it lies in there.

    Most files say neither, and need not be parsed.
    """
    package, _, last = module.rpartition(".")
    return last.encode(), package.rpartition(".")[2].encode(), f"{package.replace('.', '/')}/"


def _tested(project: Project, suspect: _Suspect) -> bool:
    """Whether a test of this project that the entry names, names a module of it."""
    given = suspect.given
    if isinstance(given, PatchInput):
        tests = given.patch.fields.get("Tests", "").split()
        source = given.patch.path.relative_to(project.root).as_posix()
    else:
        known = pr_file(project, given.number)
        tests = known.tests if known else []
        source = f"patches/{given.number}/pr.toml"
    for test in tests:
        path = project.root / check(test, source=source)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise LanewrightError(
                f"{source}: cannot read the test {test} that it names: {error.strerror}",
                hint="correct its name, or take it out",
            ) from error
        if modules_named(test, content) & set(suspect.modules.values()):
            return True
    return False


def _unused(project: Project, suspect: _Suspect) -> Unused:
    """An entry that nothing uses, with where it could be plugged in."""
    given, paths = suspect.given, tuple(suspect.modules)
    if isinstance(given, PatchInput):
        return Unused(given, paths, ())
    known = pr_file(project, given.number)
    return Unused(given, paths, tuple(known.provides) if known else (), known=known is not None)
