"""A tree edited in memory is the tree that git's own index gives."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lanewright.store.git import GitError, Repository, create
from lanewright.store.objects import EMPTY, NO_BLOB, File, TreeId, blob_id, files
from lanewright.store.trees import edit_tree
from lanewright.store.write import write_blobs

# "a-" and "a0" lie on either side of "a/" where git sorts a folder.
NAME = st.sampled_from(["a", "a-", "a0", "b", "ü"])
PATH = st.lists(NAME, min_size=1, max_size=3).map("/".join)
BLOB = blob_id(b"x")
FILE = st.builds(File, st.sampled_from(["100644", "100755", "120000"]), st.just(BLOB))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    made = create(tmp_path_factory.mktemp("trees") / "objects.git")
    assert write_blobs(made, [b"x"]) == [BLOB]
    return made


def by_index(
    repository: Repository, index: Path, tree: TreeId, changes: dict[str, File | None]
) -> str:
    """The same by way of an index; what is removed first makes room for what is set."""
    index.unlink(missing_ok=True)
    if tree == EMPTY:
        repository.run("read-tree", "--empty", index=index)
    else:
        repository.run("read-tree", tree, index=index)
    lines = [f"0 {NO_BLOB}\t{path}\0" for path, file in changes.items() if not file]
    lines += [f"{file.mode} {file.blob}\t{path}\0" for path, file in changes.items() if file]
    repository.run("update-index", "-z", "--index-info", stdin="".join(lines).encode(), index=index)
    return repository.run("write-tree", index=index).stdout.decode().strip()


def clash(changes: dict[str, File | None]) -> bool:
    """Whether a path is to be a file, and a folder too."""
    added = [path for path, file in changes.items() if file]
    return any(other.startswith(f"{path}/") for path in added for other in added)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    had=st.dictionaries(PATH, FILE, max_size=6),
    changes=st.dictionaries(PATH, st.one_of(st.none(), FILE), max_size=6),
)
def test_it_is_what_an_index_gives(
    repository: Repository,
    tmp_path: Path,
    had: dict[str, File | None],
    changes: dict[str, File | None],
) -> None:
    assume(not clash(had))
    before = edit_tree(repository, EMPTY, had)
    assert files(repository, before) == had
    index = tmp_path / "index"
    assert before == by_index(repository, index, EMPTY, had)
    if clash(changes):
        with pytest.raises(GitError, match="to be a file and a folder"):
            edit_tree(repository, before, changes)
    else:
        assert edit_tree(repository, before, changes) == by_index(
            repository, index, before, changes
        )


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", ".", "a/../b", ".git/x", "a/.GIT"])
def test_a_path_that_git_takes_for_none_is_refused(repository: Repository, path: str) -> None:
    with pytest.raises(GitError, match="no path for git"):
        edit_tree(repository, EMPTY, {path: File("100644", BLOB)})


def test_a_file_whose_content_is_not_there_is_refused(repository: Repository) -> None:
    with pytest.raises(GitError, match="lacks object"):
        edit_tree(repository, EMPTY, {"a": File("100644", blob_id(b"nowhere"))})


def test_a_tree_that_is_not_there_is_named(repository: Repository) -> None:
    with pytest.raises(GitError, match="lacks object 1111"):
        edit_tree(repository, TreeId("1" * 40), {"a": None})
