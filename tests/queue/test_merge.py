"""Merging three trees: conflicts are data, and nothing is guessed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lanewright.queue.merge.merge import Merge, expect_merge, merge_trees, merging
from lanewright.store.git import Repository, create
from lanewright.store.objects import TreeId, files, read_blobs
from lanewright.store.trees import edit_tree
from lanewright.store.write import Content, store_files

LINES = b"".join(b"line %d\n" % number for number in range(20))
FIRST, LAST = LINES.replace(b"line 1\n", b"one\n"), LINES.replace(b"line 18\n", b"eighteen\n")

Tree = Mapping[str, bytes]


class Trees:
    """A store, and contents by tree."""

    def __init__(self, folder: Path) -> None:
        self.repository: Repository = create(folder)
        self.empty = TreeId(self.repository.run("mktree").stdout.decode().strip())

    def make(self, tree: Tree, mode: str = "100644") -> TreeId:
        named = {path: Content(mode, raw) for path, raw in tree.items()}
        return edit_tree(self.repository, self.empty, store_files(self.repository, named))

    def merge(self, base: Tree, ours: Tree, theirs: Tree) -> Merge:
        return merge_trees(self.repository, *map(self.make, (base, ours, theirs)))

    def read(self, tree: TreeId) -> dict[str, bytes]:
        listed = files(self.repository, tree)
        blobs = read_blobs(self.repository, [file.blob for file in listed.values()])
        return {path: blobs[file.blob] for path, file in listed.items()}

    def sides(self, merge: Merge, path: str) -> dict[int, bytes]:
        stages = merge.conflicts[path]
        blobs = read_blobs(self.repository, [file.blob for file in stages.values()])
        return {number: blobs[file.blob] for number, file in stages.items()}


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path / "objects.git")


def test_edits_apart_are_both_kept(trees: Trees) -> None:
    merge = trees.merge({"x": LINES}, {"x": FIRST}, {"x": LAST})
    assert merge.conflicts == {}
    assert trees.read(merge.tree) == {"x": LAST.replace(b"line 1\n", b"one\n")}


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ({"x": b"1"}, {"x": b"1"}, {"x": b"2"}, {"x": b"2"}),
        ({"x": b"1"}, {"x": b"2"}, {"x": b"1"}, {"x": b"2"}),
        ({"x": b"1"}, {"x": b"2"}, {"x": b"2"}, {"x": b"2"}),
        ({}, {"x": b"1"}, {"y": b"2"}, {"x": b"1", "y": b"2"}),
        ({"x": b"1", "y": b"1"}, {"x": b"1"}, {"y": b"1"}, {}),
        ({"x": b"1"}, {}, {}, {}),
        ({}, {"x": b"1"}, {"x": b"1"}, {"x": b"1"}),
        ({"x": b"a\r\n"}, {"x": b"a\r\n", "y": b""}, {"x": b"b\r\n"}, {"x": b"b\r\n", "y": b""}),
        ({"x": LINES}, {"x": FIRST}, {"x": LINES + b"end"}, {"x": FIRST + b"end"}),
        ({"x": b"\0a"}, {"x": b"\0a", "y": b""}, {"x": b"\0b"}, {"x": b"\0b", "y": b""}),
    ],
)
def test_clean(trees: Trees, base: Tree, ours: Tree, theirs: Tree, expected: Tree) -> None:
    merge = trees.merge(base, ours, theirs)
    assert merge.conflicts == {}
    assert trees.read(merge.tree) == expected


def test_a_conflict_has_its_three_sides(trees: Trees) -> None:
    other = LINES.replace(b"line 1\n", b"uno\n")
    merge = trees.merge({"x": LINES, "y": b""}, {"x": FIRST, "y": b""}, {"x": other, "y": b"2"})
    assert set(merge.conflicts) == {"x"}
    assert trees.sides(merge, "x") == {1: LINES, 2: FIRST, 3: other}


def test_all_conflicts_are_told_at_once(trees: Trees) -> None:
    names = ["a b", 'q"q', "ünï", "tab\tin it"]
    base, ours, theirs = (dict.fromkeys(names, content) for content in (b"0\n", b"1\n", b"2\n"))
    merge = trees.merge(base, ours, theirs)
    assert set(merge.conflicts) == set(names)


def test_neighbouring_lines_conflict(trees: Trees) -> None:
    merge = trees.merge({"x": b"a\nb\n"}, {"x": b"A\nb\n"}, {"x": b"a\nB\n"})
    assert set(merge.conflicts) == {"x"}


def test_a_file_that_ours_removed_has_no_second_stage(trees: Trees) -> None:
    merge = trees.merge({"x": LINES}, {"y": b""}, {"x": FIRST})
    assert trees.sides(merge, "x") == {1: LINES, 3: FIRST}


def test_a_file_that_theirs_removed_has_no_third_stage(trees: Trees) -> None:
    merge = trees.merge({"x": LINES}, {"x": FIRST}, {"y": b""})
    assert trees.sides(merge, "x") == {1: LINES, 2: FIRST}


def test_a_file_that_both_added_has_no_first_stage(trees: Trees) -> None:
    merge = trees.merge({}, {"x": b"ours\n"}, {"x": b"theirs\n"})
    assert trees.sides(merge, "x") == {2: b"ours\n", 3: b"theirs\n"}


def test_binary_that_both_changed_conflicts(trees: Trees) -> None:
    merge = trees.merge({"x": b"\0" + LINES}, {"x": b"\0" + FIRST}, {"x": b"\0" + LAST})
    assert set(merge.conflicts) == {"x"}


@pytest.mark.parametrize("moved", ["vllm/moved.py", "other/x.py"])
def test_no_rename_is_guessed(trees: Trees, moved: str) -> None:
    merge = trees.merge({"vllm/x.py": LINES}, {moved: LINES}, {"vllm/x.py": FIRST})
    assert trees.sides(merge, "vllm/x.py") == {1: LINES, 3: FIRST}


def test_no_rename_is_guessed_in_theirs_either(trees: Trees) -> None:
    merge = trees.merge({"x": LINES}, {"x": FIRST}, {"moved": LAST})
    assert trees.sides(merge, "x") == {1: LINES, 2: FIRST}


def test_no_folder_rename_is_guessed(trees: Trees) -> None:
    base = {f"old/{n}.py": LINES + bytes([n]) for n in range(48, 53)}
    ours = {path.replace("old", "new"): content for path, content in base.items()}
    merge = trees.merge(base, ours, {**base, "old/added.py": b"added\n"})
    assert trees.read(merge.tree)["old/added.py"] == b"added\n"


def test_modes_merge_apart_from_content(trees: Trees) -> None:
    base = trees.make({"x": b"a"})
    merge = merge_trees(
        trees.repository, base, trees.make({"x": b"b"}), trees.make({"x": b"a"}, "100755")
    )
    assert merge.conflicts == {}
    [(path, file)] = files(trees.repository, merge.tree).items()
    assert (path, file.mode) == ("x", "100755")


def test_attributes_in_the_tree_change_nothing(trees: Trees) -> None:
    rules = {".gitattributes": b"* merge=union -text\nx merge=ours\n"}
    sides = ({"x": content, **rules} for content in (b"0\n", b"1\n", b"2\n"))
    assert set(trees.merge(*sides).conflicts) == {"x"}


def test_merging_twice_gives_the_same_tree(trees: Trees) -> None:
    sides = ({"x": LINES}, {"x": FIRST}, {"x": LAST})
    first = trees.merge(*sides)
    again = merge_trees(trees.repository, trees.make(sides[0]), first.tree, trees.make(sides[2]))
    assert again == first


def test_expected_merges_go_along_with_the_next_one(
    trees: Trees, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [LINES, FIRST, LAST, LINES.replace(b"line 1\n", b"two\n")]
    base, first, last, other = (trees.make({"a": text}) for text in texts)
    alone = merge_trees(trees.repository, base, first, last)
    conflict = merge_trees(trees.repository, base, first, other)
    assert conflict.conflicts
    monkeypatch.setenv("LANEWRIGHT_TRACE", "1")
    with merging():
        expect_merge(trees.repository, base, first, other)
        expect_merge(trees.repository, base, base, other)
        assert merge_trees(trees.repository, base, first, last) == alone
        assert merge_trees(trees.repository, base, first, other) == conflict
        assert merge_trees(trees.repository, base, first, last) == alone
    assert capsys.readouterr().err.count("git merge-tree ") == 1
    assert merge_trees(trees.repository, base, first, other) == conflict
    assert capsys.readouterr().err.count("git merge-tree ") == 1
