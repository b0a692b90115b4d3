"""Blobs, trees and commits, as git holds them."""

from pathlib import Path

import pytest

from lanewright.store.git import Repository, create
from lanewright.store.objects import (
    BlobId,
    File,
    TreeId,
    commit_and_tree,
    exists,
    files,
    read_blobs,
    resolve,
)
from lanewright.store.odb import MissingObjectError
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, commit, set_ref, store_files, write_blobs

EMPTY = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
NAMES = [
    "a/x.py",
    "b/x.py",
    "a b/with blank.py",
    "-n",
    "glob/[x]*.py",
    ":(top)x.py",
    'quo"te.py',
    "ünïcode/模型.py",
    "colon:name.py",
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = create(tmp_path / "objects.git")
    made.run("mktree")  # the empty tree
    return made


def tree_with(repository: Repository, **contents: bytes) -> TreeId:
    named = {
        path.replace("__", "/"): Content("100644", content) for path, content in contents.items()
    }
    return edit_tree(repository, EMPTY, store_files(repository, named))


def test_any_name_goes_into_a_tree_and_comes_back(repository: Repository) -> None:
    changes = store_files(repository, {name: Content("100644", name.encode()) for name in NAMES})
    tree = edit_tree(repository, EMPTY, changes)
    assert files(repository, tree) == changes
    for name in NAMES:
        assert files(repository, tree, [name]) == {name: changes[name]}


def test_a_path_is_no_pattern(repository: Repository) -> None:
    tree = tree_with(repository, a=b"", b=b"")
    assert files(repository, tree, ["*", "[ab]", ":(glob)*"]) == {}


def test_setting_and_removing_leaves_the_rest(repository: Repository) -> None:
    tree = tree_with(repository, vllm__a=b"a", vllm__b=b"b", vllm__c=b"c")
    new = File("100755", *write_blobs(repository, [b"new"]))
    changed = edit_tree(repository, tree, {"vllm/a": None, "vllm/b": new})
    before = files(repository, tree)
    assert files(repository, changed) == {"vllm/b": new, "vllm/c": before["vllm/c"]}


def test_nothing_to_edit_gives_the_tree_itself(repository: Repository) -> None:
    tree = tree_with(repository, a=b"a")
    assert edit_tree(repository, tree, {}) == tree


def test_removing_what_is_not_there_is_no_change(repository: Repository) -> None:
    tree = tree_with(repository, a=b"a")
    assert edit_tree(repository, tree, {"b": None}) == tree


@pytest.mark.parametrize("first", ["added", "removed"])
def test_a_folder_can_become_a_file_and_back(repository: Repository, first: str) -> None:
    folder, file = tree_with(repository, x__y=b"1"), tree_with(repository, x=b"2")
    for before, after in ((folder, file), (file, folder)):
        removed: dict[str, File | None] = dict.fromkeys(files(repository, before))
        added: dict[str, File | None] = {**files(repository, after)}
        changes = {**added, **removed} if first == "added" else {**removed, **added}
        assert edit_tree(repository, before, changes) == after


def test_a_tree_id_depends_on_content_alone(repository: Repository) -> None:
    tree = tree_with(repository, a=b"a", b=b"b")
    detour = edit_tree(repository, tree_with(repository, b=b"b", c=b"c"), {"c": None})
    assert edit_tree(repository, detour, files(repository, tree)) == tree


def test_the_same_commit_has_the_same_id_at_any_time(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(repository, EMPTY, "message\n")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2000-01-01T00:00:00Z")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "someone else")
    assert commit(repository, EMPTY, "message\n") == first
    assert commit_and_tree(repository, first) == (first, EMPTY)


def test_a_message_is_kept_to_the_byte(repository: Repository) -> None:
    message = "subject\n\n---\ndiff --git a/w.py b/w.py\n# no comment\n\n\ntrailing  "
    made = commit(repository, EMPTY, message)
    raw = repository.run("cat-file", "commit", made).stdout
    assert raw.partition(b"\n\n")[2].removesuffix(b"\n") == message.encode()


@pytest.mark.parametrize("name", ["refs/absent", "--all", "-h", "", "refs/releases/x/1..0", "^x"])
def test_an_unknown_name_stands_for_nothing(repository: Repository, name: str) -> None:
    assert resolve(repository, name) is None


def test_a_ref_is_set_and_found(repository: Repository) -> None:
    made = commit(repository, EMPTY, "m\n")
    set_ref(repository, "refs/trees/x", made)
    assert resolve(repository, "refs/trees/x") == made


@pytest.mark.parametrize("had", [{}, {"x": Content("100644", b"x")}])
def test_a_tree_without_files_is_stored_like_any_other(
    tmp_path: Path, had: dict[str, Content | None]
) -> None:
    repository = create(tmp_path / "another.git")
    before = edit_tree(repository, EMPTY, store_files(repository, had)) if had else EMPTY
    assert edit_tree(repository, before, dict.fromkeys(had)) == EMPTY
    set_ref(repository, "refs/trees/x", commit(repository, EMPTY, "nothing\n"))
    repository.run("fsck", "--connectivity-only")


def test_exists_asks_for_every_id(repository: Repository) -> None:
    [here] = write_blobs(repository, [b"here"])
    assert exists(repository, [here, EMPTY])
    assert not exists(repository, [here, "1" * 40])


def test_exists_is_false_in_a_store_that_is_just_being_made(tmp_path: Path) -> None:
    (tmp_path / "half.git").mkdir()
    assert not exists(Repository(tmp_path / "half.git"), [EMPTY])


def test_a_missing_object_is_named(repository: Repository) -> None:
    [here] = write_blobs(repository, [b"here"])
    with pytest.raises(MissingObjectError, match="1" * 40):
        read_blobs(repository, [here, BlobId("1" * 40)])


def test_contents_are_stored_by_path_and_a_removal_stays_one(repository: Repository) -> None:
    stored = store_files(repository, {"a": Content("100755", b""), "b": None})
    assert stored == {
        "a": File("100755", BlobId("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")),
        "b": None,
    }
    assert store_files(repository, {}) == {}


def test_asked_twice_or_for_none(repository: Repository) -> None:
    [blob] = write_blobs(repository, [b"x"])
    assert read_blobs(repository, [blob, blob]) == {blob: b"x"}
    assert read_blobs(repository, []) == {}


def test_content_that_looks_like_an_answer_of_git(repository: Repository) -> None:
    contents = [b"1" * 40 + b" missing\n", b"0" * 40 + b" blob 3\nabc\n", b"\n\n"]
    ids = write_blobs(repository, contents)
    assert list(read_blobs(repository, ids).values()) == contents
