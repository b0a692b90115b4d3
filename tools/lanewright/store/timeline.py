"""What upstream did to a few files on the way from one commit to another, step by step.

Commits and trees alone are read: a partial clone has these, and lacks most contents.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from lanewright.store.git import Repository
from lanewright.store.history import merge_base
from lanewright.store.objects import NO_BLOB, BlobId, CommitId, File, files, tree_of
from lanewright.store.trees import SUBMODULE

FLAGS = ("--raw", "-z", "--no-abbrev", "--no-renames", "--diff-merges=first-parent")
ABSENT = "000000"
Files = Mapping[str, File | None]


@dataclass(frozen=True)
class Made:
    """A commit, as a person tells it from others.

    Attributes:
        commit: Its id.
        date: When it was committed, in UTC.
        subject: The first line of its message.
    """

    commit: CommitId
    date: date
    subject: str


@dataclass(frozen=True)
class Step:
    """One commit's part of the way.

    Attributes:
        made: The commit; None where files differ and no commit on the way says why.
        undone: Whether the way leads back over it: the change was made on it, and the pin lacks it.
        files: What the files that it touches are after the step.
    """

    made: Made | None
    undone: bool
    files: Files


def way(
    repository: Repository, base: CommitId, pin: CommitId, paths: Sequence[str], there: Files
) -> list[Step]:
    """The steps from ``base`` to ``pin`` that touch some files.

    It goes back from ``base`` to where the two part, and forward from there; on both legs along
    first parents, as upstream's branch went.

    Args:
        repository: The store.
        base: Where it begins.
        pin: Where it ends.
        paths: The files, by their paths in those commits.
        there: What the files are in the end; by default what ``pin`` has, and a release that was
            packed otherwise than its tag is told as a step without a commit.

    Raises:
        HistoryError: The two have no merge base, or several.
        MissingObjectError: One of them, or a part of its history, is not in the store.
    """
    fork = merge_base(repository, base, pin)
    wanted = list(dict.fromkeys(paths))
    now: dict[str, File | None] = _files(repository, base, wanted)
    steps: list[Step] = []
    for undone, since, until, end in (
        (True, fork, base, _files(repository, fork, wanted)),
        (False, fork, pin, {path: there.get(path) for path in wanted}),
    ):
        for made, before, after in _log(repository, since, until, wanted, undone=undone):
            step = Step(made, undone, before if undone else after)
            now |= step.files
            steps.append(step)
        left = {path: end[path] for path in wanted if now[path] != end[path]}
        if left:
            now |= left
            steps.append(Step(None, undone, left))
    return steps


def made_of(repository: Repository, commit: CommitId) -> Made:
    """Who a commit is, for people."""
    output = repository.run(
        "log", "-1", "--no-walk", "--format=tformat:%H %ct %s", "--end-of-options", commit
    )
    return _made(output.stdout.decode("utf-8", "replace").rstrip("\n"))


def first_after(repository: Repository, base: CommitId, head: CommitId) -> Made | None:
    """The oldest of the commits that lead to ``head`` and not to ``base``."""
    output = repository.run(
        "log", "--first-parent", "--format=tformat:%H %ct %s", "--end-of-options", head, f"^{base}"
    )
    lines = output.stdout.decode("utf-8", "replace").splitlines()
    return _made(lines[-1]) if lines else None


def _files(
    repository: Repository, commit: CommitId, paths: Sequence[str]
) -> dict[str, File | None]:
    found = files(repository, tree_of(repository, commit), paths)
    return {path: _held(found.get(path)) for path in paths}


def _log(
    repository: Repository,
    since: CommitId,
    until: CommitId,
    paths: Sequence[str],
    *,
    undone: bool,
) -> Iterator[tuple[Made, dict[str, File | None], dict[str, File | None]]]:
    """Each commit with what the files were before it and are after it, newest first if undone."""
    if since == until or not paths:
        return
    order = () if undone else ("--reverse",)
    stdin = "\n".join([f"^{since}", until, "--", *paths, ""]).encode("utf-8", "surrogateescape")
    output = repository.run(
        "log", "--first-parent", *FLAGS, *order, "--format=tformat:%H %ct %s", "--stdin",
        stdin=stdin,
    )  # fmt: skip
    made: Made | None = None
    before: dict[str, File | None] = {}
    after: dict[str, File | None] = {}
    parts = iter(output.stdout.decode("utf-8", "surrogateescape").split("\0"))
    for part in parts:
        text = part.removeprefix("\n")
        if text.startswith(":"):
            modes_and_ids = text[1:].split(" ")
            path = next(parts)
            before[path] = _file(modes_and_ids[0], modes_and_ids[2])
            after[path] = _file(modes_and_ids[1], modes_and_ids[3])
        elif text:
            if made:
                yield made, before, after
            made, before, after = _made(text), {}, {}
    if made:
        yield made, before, after


def _file(mode: str, blob: str) -> File | None:
    return None if mode == ABSENT or blob == NO_BLOB else _held(File(mode, BlobId(blob)))


def _held(file: File | None) -> File | None:
    """A file as a lane's tree can have it, which holds no submodule."""
    return None if file and file.mode == SUBMODULE else file


def _made(line: str) -> Made:
    commit, when, subject = line.split(" ", 2)
    told = subject.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Made(CommitId(commit), _day(int(when)), told)


def _day(when: int) -> date:
    """The day of a commit; as git has it, the first of all where no calendar has such a day."""
    try:
        return datetime.fromtimestamp(when, UTC).date()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).date()
