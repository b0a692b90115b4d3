"""Branches ``refs/pull/<number>/head``, made by edits of our own on upstream's files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewright.store.git import Repository
from lanewright.store.objects import CommitId, changes, commit_and_tree, files
from lanewright.store.write import Content
from tests.upstream.stand_in.between import between
from tests.upstream.stand_in.choice import choose
from tests.upstream.stand_in.points import is_python
from tests.upstream.stand_in.specs import PullSpec
from tests.upstream.stand_in.stream import HOUR, START, Change, NewCommit, write_commits
from tests.upstream.stand_in.texts import edited

BROUGHT = Path(__file__).parent / "brought"
CONTRIBUTOR = "contributor"
HALF_AN_HOUR = HOUR // 2


@dataclass(frozen=True)
class Branch:
    """The files of a pull request that differ from its base.

    Attributes:
        first: As its first commit has them.
        last: As its head has them; one that was taken back is as in the base.
    """

    first: dict[str, Change]
    last: dict[str, Change]


def build_pull(repository: Repository, main: Sequence[CommitId], spec: PullSpec) -> CommitId:
    """Make one pull request's branch; gives its head."""
    commits = _commits(repository, main, spec)
    return write_commits(repository, commits)[-1]


def position(percent: int, main: Sequence[CommitId]) -> int:
    """Which commit of ``main`` lies so far on the way, in percent."""
    return (len(main) - 1) * percent // 100


def edits(
    repository: Repository, base: CommitId, pin: CommitId, spec: PullSpec, *, version: int = 1
) -> Branch:
    """Every file that a pull request adds or edits, on its base."""
    chosen = choose(between(repository, base, pin), spec)
    first: dict[str, Change] = {**brought(spec)}
    last = dict(first)
    for each in chosen:
        for target, undone in ((first, True), (last, False)):
            raw = edited(spec, each, version=version, undone=undone)
            assert is_python(raw), f"#{spec.number}: {each.path} does not parse"
            target[each.path] = Content(each.mode, raw)
    return Branch(first, last)


def _commits(repository: Repository, main: Sequence[CommitId], spec: PullSpec) -> list[NewCommit]:
    base = position(spec.base, main)
    branch = edits(repository, main[base], main[-1], spec)
    date = START + base * HOUR + HALF_AN_HOUR
    if spec.forked is not None:
        forked = position(spec.forked, main)
        return _taking_main_in(repository, spec, branch.last, (main[forked], main[base]), date)
    made = [NewCommit(spec.ref, CONTRIBUTOR, date, spec.title, (main[base],), branch.first)]
    taken_back = {
        path: change for path, change in branch.last.items() if branch.first[path] != change
    }
    if taken_back:
        message = f"{spec.title}: take back what is not needed"
        made.append(NewCommit(spec.ref, CONTRIBUTOR, date + HOUR, message, (":1",), taken_back))
    return made


def _taking_main_in(
    repository: Repository,
    spec: PullSpec,
    wanted: dict[str, Change],
    ends: tuple[CommitId, CommitId],
    date: int,
) -> list[NewCommit]:
    """A branch that began early, took ``main`` in, and went on.

    What it edits of the files that ``main`` changed meanwhile comes after that.
    """
    forked, base = ends
    before, after = (each[1] for name in ends if (each := commit_and_tree(repository, name)))
    meanwhile = {path: new for path, (_, new) in changes(repository, before, after).items()}
    early = {path: change for path, change in wanted.items() if path not in meanwhile}
    # Something must come later, so that the merge is not the head.
    last = max(early, key=lambda path: (path in files(repository, before), path))
    late = {path: change for path, change in wanted.items() if path in meanwhile or path == last}
    del early[last]
    message = "Merge main into the pull request"
    return [
        NewCommit(spec.ref, CONTRIBUTOR, date - HOUR, spec.title, (forked,), early),
        NewCommit(spec.ref, CONTRIBUTOR, date, message, (":1", base), meanwhile),
        NewCommit(spec.ref, CONTRIBUTOR, date + HOUR, f"{spec.title}: go on", (":2",), late),
    ]


def brought(spec: PullSpec) -> dict[str, Content]:
    """The files that a pull request adds, by path."""
    if spec.brings is None:
        return {}
    folder = BROUGHT / spec.brings
    found = sorted(folder.rglob("*.py"))
    assert found, f"{folder} has no files"
    return {
        file.relative_to(folder).as_posix(): Content("100644", file.read_bytes()) for file in found
    }
