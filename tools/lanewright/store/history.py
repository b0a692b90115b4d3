"""How commits of the store descend from each other; never guessed from a part of the history."""

from lanewright.errors import LanewrightError
from lanewright.store.git import Output, Repository
from lanewright.store.objects import CommitId
from lanewright.store.odb import MissingObjectError
from lanewright.terminal import quoted

SEVERAL = 2


class HistoryError(LanewrightError):
    """Two commits have no merge base, or no single one."""


def merge_base(repository: Repository, one: CommitId, other: CommitId) -> CommitId:
    """The commit where two lines of history part.

    Raises:
        HistoryError: The two are unrelated, have several best bases, or the store is shallow.
        MissingObjectError: One of them, or a part of its history, is not in the store.
    """
    output = _ask(repository, "--all", one, other)
    found = output.stdout.decode().split()
    if not found:
        raise HistoryError(
            f"{one} and {other} have no common commit: they are unrelated",
            hint="see that both come from the same upstream; a release's commit has no history,"
            " so merge onto it by tree, or pin a commit of the git remote",
        )
    if len(found) >= SEVERAL:
        raise HistoryError(
            f"{one} and {other} were merged into each other, so they have {len(found)} merge"
            f" bases: {', '.join(sorted(found))}",
            hint=f"look at them: git --git-dir={quoted(repository.path)} log --oneline --graph {one}"
            f" {other}; then rebase one of the two, so that one base is left",
        )
    return CommitId(found[0])


def is_ancestor(repository: Repository, one: CommitId, other: CommitId) -> bool:
    """Whether ``other`` has ``one`` in its history, or is the same commit.

    Raises:
        HistoryError: The store is shallow.
        MissingObjectError: One of them, or a part of its history, is not in the store.
    """
    return _ask(repository, "--is-ancestor", one, other).status == 0


def _ask(repository: Repository, how: str, one: CommitId, other: CommitId) -> Output:
    if (repository.path / "shallow").exists():
        raise HistoryError(
            f"{repository.path} is shallow: where {one} and {other} part may have been cut off",
            hint=f"git --git-dir={quoted(repository.path)} fetch --unshallow",
        )
    arguments = ("merge-base", how, "--end-of-options", one, other)
    output = repository.run(*arguments, ok=(0, 1, 128))
    # git takes a commit whose parents are gone for a root, and only says so on the side.
    if output.status not in {0, 1} or output.stderr:
        raise MissingObjectError(
            f"the history of {one} and {other} is not whole in {repository.path}:"
            f" {' / '.join(output.stderr.splitlines())}",
            hint="bring what is missing into the store: lanewright fetch",
        )
    return output
