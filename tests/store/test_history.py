"""Merge bases are found whole or refused by name."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lanewright.store.git import Repository, create
from lanewright.store.history import HistoryError, is_ancestor, merge_base
from lanewright.store.objects import CommitId, TreeId
from lanewright.store.odb import MissingObjectError
from lanewright.store.write import commit
from tests.upstream.diff import git

EMPTY = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = create(tmp_path / "objects.git")
    made.run("mktree")
    return made


def on(repository: Repository, *parents: CommitId, message: str) -> CommitId:
    return commit(repository, EMPTY, message, parents)


@pytest.fixture
def line(repository: Repository) -> Sequence[CommitId]:
    """Four commits: a root, one on it, and two on that."""
    root = on(repository, message="root")
    base = on(repository, root, message="base")
    left, right = (on(repository, base, message=message) for message in ("left", "right"))
    return root, base, left, right


def test_the_commit_where_two_lines_part(repository: Repository, line: Sequence[CommitId]) -> None:
    root, base, left, right = line
    assert merge_base(repository, left, right) == base
    assert merge_base(repository, right, root) == root
    assert merge_base(repository, left, left) == left


def test_ancestry(repository: Repository, line: Sequence[CommitId]) -> None:
    root, base, left, right = line
    assert is_ancestor(repository, root, left)
    assert is_ancestor(repository, base, base)
    assert not is_ancestor(repository, left, base)
    assert not is_ancestor(repository, left, right)


def test_unrelated_histories_are_named(repository: Repository, line: Sequence[CommitId]) -> None:
    other = on(repository, message="another root")
    with pytest.raises(HistoryError, match=f"{line[2]} and {other} .* unrelated") as error:
        merge_base(repository, line[2], other)
    assert error.value.hint
    assert not is_ancestor(repository, line[2], other)


def test_of_a_criss_cross_every_base_is_named(
    repository: Repository, line: Sequence[CommitId]
) -> None:
    _, _, left, right = line
    one = on(repository, left, right, message="one")
    other = on(repository, right, left, message="other")
    with pytest.raises(HistoryError, match=", ".join(sorted((left, right)))) as error:
        merge_base(repository, one, other)
    assert "rebase" in (error.value.hint or "")


def test_a_commit_that_is_not_here_is_named(
    repository: Repository, line: Sequence[CommitId]
) -> None:
    gone = CommitId("1" * 40)
    for ask in (merge_base, is_ancestor):
        with pytest.raises(MissingObjectError, match=gone) as error:
            ask(repository, gone, line[0])
        assert "lanewright fetch" in (error.value.hint or "")


def test_a_history_with_a_gap_gives_no_base(
    repository: Repository, line: Sequence[CommitId]
) -> None:
    root, base, left, right = line
    (repository.path / "objects" / base[:2] / base[2:]).unlink()
    for ask in (merge_base, is_ancestor):
        with pytest.raises(MissingObjectError, match=base):
            ask(repository, left, on(repository, root, message="beside"))
    with pytest.raises(MissingObjectError, match=base):
        merge_base(repository, left, right)


def test_a_shallow_store_gives_no_base(
    repository: Repository, line: Sequence[CommitId], tmp_path: Path
) -> None:
    _, _, left, right = line
    for name, value in (("left", left), ("right", right)):
        repository.run("update-ref", f"refs/heads/{name}", value)
    url = f"file://{repository.path}"
    git(tmp_path, "clone", "--quiet", "--bare", "--depth=1", "--no-single-branch", url, "cut.git")
    cut = Repository(tmp_path / "cut.git")
    for ask in (merge_base, is_ancestor):
        with pytest.raises(HistoryError, match="is shallow") as error:
            ask(cut, left, right)
        assert error.value.hint == f"git --git-dir={cut.path} fetch --unshallow"
