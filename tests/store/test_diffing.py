"""Diffs by one git that waits: the same bytes as by one git for each."""

from pathlib import Path

import pytest

from lanewright.store.diffing import diff_of, diffing
from lanewright.store.git import GitError, Repository, create
from lanewright.store.objects import EMPTY, TreeId
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files

FLAGS = ("-p", "-U0")
TEXTS = (
    b"",
    b"one\ntwo\n",
    b"one\n=\n",
    b"=",
    b"=\n" * 3,
    b"\0\n=\n",
    b"one\r\n=\r\n",
    b"".join(b"line %d\n=\n" % number for number in range(20_000)),
)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return create(tmp_path / "store.git")


def tree(repository: Repository, text: bytes) -> TreeId:
    return edit_tree(repository, EMPTY, store_files(repository, {"0": Content("100644", text)}))


def test_the_bytes_are_those_of_a_git_for_each(repository: Repository) -> None:
    trees = [tree(repository, text) for text in TEXTS]
    pairs = [(before, after) for before in trees for after in trees]
    alone = [diff_of(repository, *pair, *FLAGS) for pair in pairs]
    with diffing():
        assert [diff_of(repository, *pair, *FLAGS) for pair in pairs] == alone


def test_it_starts_git_once_for_each_kind(
    repository: Repository, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tree(repository, b"1\n"), tree(repository, b"2\n")
    monkeypatch.setenv("LANEWRIGHT_TRACE", "1")
    with diffing():
        first = diff_of(repository, one, two, *FLAGS)
        with diffing():
            assert diff_of(repository, two, one, *FLAGS) != first
        assert diff_of(repository, one, two, "-r").startswith(b":100644 100644 ")
        assert diff_of(repository, one, two, *FLAGS) == first
    talk = capfd.readouterr().err
    assert talk.count("git diff-tree --stdin -p -U0 ") == 3


def test_what_is_written_after_its_start_is_seen(repository: Repository) -> None:
    one = tree(repository, b"1\n")
    with diffing():
        assert diff_of(repository, one, one, *FLAGS) == b""
        two = tree(repository, b"2\n")
        assert diff_of(repository, one, two, *FLAGS).endswith(b"-1\n+2\n")


def test_a_missing_object_is_told_with_a_next_step(repository: Repository) -> None:
    one, absent = tree(repository, b"1\n"), TreeId("1" * 40)
    with diffing():
        with pytest.raises(GitError, match="git diff-tree -p -U0 ") as told:
            diff_of(repository, one, absent, *FLAGS)
        assert told.value.hint
        assert diff_of(repository, one, EMPTY, *FLAGS).endswith(b"-1\n")


def test_without_git_the_error_says_so(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tree(repository, b"1\n"), tree(repository, b"2\n")
    monkeypatch.setenv("PATH", "/nowhere")
    with diffing(), pytest.raises(GitError, match="cannot start git"):
        diff_of(repository, one, two, *FLAGS)
