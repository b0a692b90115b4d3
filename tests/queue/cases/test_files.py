"""What is more than lines: renames, modes, empty files, binaries, names, LFS pointers.

An own patch is made without renames, and of text and plain files alone; that others are refused is
in `tests/queue/test_patchfile_refused.py`, and its modes and names are in `test_patchfile.py` and
`test_outcomes.py` too.
"""

import pytest

from lanewright.store.write import Content
from tests.queue.cases.lane import KINDS, Kind, Lane, Tree, carried

OLD, NEW, FILE = "vllm/old.py", "vllm/new.py", "vllm/x.py"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
FIRST, LAST = LINES.replace(b"line_1 =", b"one ="), LINES.replace(b"line_18 =", b"eighteen =")
BOTH = FIRST.replace(b"line_18 =", b"eighteen =")

Capture = pytest.CaptureFixture[str]


def executable(raw: bytes) -> Content:
    return Content("100755", raw)


@pytest.mark.parametrize("after", [LINES, FIRST], ids=["alone", "with an edit"])
def test_pure_rename_is_one_unit(lane: Lane, capfd: Capture, after: bytes) -> None:
    base = lane.start({OLD: LINES})
    head = lane.pull({OLD: None, NEW: after}, base)
    assert lane.carry("pull", base, head) == 0
    assert lane.read() == {NEW: after}
    text = lane.series.read_text()
    for chosen, left in ((NEW, OLD), (OLD, NEW)):
        lane.series.write_text(text)
        lane.select(chosen)
        assert lane.run("build") == 1
        said = capfd.readouterr().err
        assert f"{chosen} is one name of a renamed file, and {left}, the other, is not" in said
        assert "`split = true`" in said
    with lane.series.open("a") as file:
        file.write("split = true\n")
    assert lane.run("build") == 0
    assert lane.read() == {}


def test_pure_rename_split_keeps_the_old_name_for_the_new_one(lane: Lane) -> None:
    base = lane.start({OLD: LINES})
    head = lane.pull({OLD: None, NEW: FIRST}, base)
    assert lane.carry("pull", base, head) == 0
    lane.select(NEW)
    with lane.series.open("a") as file:
        file.write("split = true\n")
    assert lane.run("build") == 0
    assert lane.read() == {OLD: LINES, NEW: FIRST}


def test_pure_rename_by_add_of_one_name_takes_the_other_along(lane: Lane) -> None:
    lane.pull({OLD: None, NEW: LINES, FILE: LINES}, lane.start({OLD: LINES}))
    assert lane.run("add", f"1:{NEW}") == 0
    assert lane.read() == {NEW: LINES}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [LINES, FIRST], ids=["alone", "with an edit"])
def test_pure_rename_of_a_file_that_upstream_edits_asks_a_person(
    lane: Lane, kind: Kind, after: bytes
) -> None:
    assert carried(lane, kind, {OLD: LINES}, {NEW: after}, {OLD: LAST}) == 3
    assert {hunk.path: hunk.outcome for hunk in lane.hunks()} == {OLD: "conflict", NEW: "clean"}


def test_pure_rename_that_upstream_made_too_has_landed(lane: Lane) -> None:
    assert carried(lane, "pull", {OLD: LINES}, {NEW: LINES}, {NEW: LINES}) == 0
    assert lane.outcomes() == ["landed", "landed"]
    assert lane.read() == {NEW: LINES}


def test_pure_rename_upstream_of_a_file_that_is_edited_asks_a_person(lane: Lane) -> None:
    assert carried(lane, "pull", {OLD: LINES}, {OLD: FIRST}, {NEW: LINES}) == 3
    assert lane.outcomes() == ["file missing"]


def test_pure_rename_upstream_to_a_file_that_is_not_selected_leaves_that_alone(lane: Lane) -> None:
    after = {OLD: FIRST, NEW: b"ours = 1\n"}
    assert carried(lane, "pull", {OLD: LINES}, after, {NEW: LINES}) == 3
    lane.select(OLD)
    assert lane.run("resolve", "1") == 0
    (lane.root / ".lanewright/resolve/sample/1" / OLD).unlink()
    assert lane.run("resolve", "1", "--done") == 0
    assert lane.run("build") == 0
    assert lane.read() == {NEW: LINES}
    assert lane.outcomes() == ["not selected", "fixed"]


@pytest.mark.parametrize("kind", KINDS)
def test_mode_only_and_edits_are_chosen_apart(lane: Lane, kind: Kind) -> None:
    before: Tree = {OLD: LINES, FILE: LINES, NEW: executable(LINES)}
    after: Tree = {OLD: executable(LINES), FILE: executable(FIRST), NEW: LINES}
    moved: Tree = {OLD: LAST, FILE: LAST, NEW: executable(LAST)}
    assert carried(lane, kind, before, after, moved) == 0
    assert lane.read() == {OLD: LAST, FILE: BOTH, NEW: LAST}
    modes = {path: file.mode for path, file in lane.modes().items()}
    assert (modes[OLD], modes[FILE], modes[NEW]) == ("100755", "100755", "100644")
    units = [(hunk.path, hunk.lines, hunk.id) for hunk in lane.hunks() if hunk.path == FILE]
    text = lane.series.read_text()
    for _, lines, name in units:
        lane.series.write_text(text)
        lane.select(f"{FILE}:{name}")
        tree = lane.applied().lock.tree
        wanted = (LAST, "100755") if lines == "mode" else (BOTH, "100644")
        assert (lane.read(tree)[FILE], lane.modes(tree)[FILE].mode) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_empty_file_is_made_emptied_and_removed(lane: Lane, kind: Kind) -> None:
    before = {"vllm/emptied.py": LINES, "vllm/removed.py": b"", "vllm/gone.py": LINES}
    after = {"vllm/emptied.py": b"", "vllm/new/__init__.py": b""}
    assert carried(lane, kind, before, after, before) == 0
    assert lane.read() == after
    assert lane.outcomes() == ["clean"] * 4


BINARY = b"\0\1\2" + LINES


def test_binary_is_taken_whole(lane: Lane) -> None:
    before = {"vllm/a.bin": BINARY, "vllm/b.bin": BINARY, "vllm/d.bin": BINARY}
    edited = b"\0" + FIRST
    after: Tree = {"vllm/a.bin": edited, "vllm/b.bin": executable(edited), "vllm/c.bin": BINARY}
    assert carried(lane, "pull", before, after, {**before, FILE: LINES}) == 0
    assert [(hunk.path[5:6], hunk.lines) for hunk in lane.hunks()] == [
        *(("a", "whole"), ("b", "whole"), ("b", "mode"), ("c", "whole"), ("d", "whole"))
    ]
    wanted = {"vllm/a.bin": edited, "vllm/b.bin": edited, "vllm/c.bin": BINARY, FILE: LINES}
    assert lane.read() == wanted
    assert lane.modes()["vllm/b.bin"].mode == "100755"


def test_binary_and_its_mode_are_chosen_apart(lane: Lane) -> None:
    path = "vllm/x.bin"
    after = {path: executable(b"\0" + FIRST)}
    assert carried(lane, "pull", {path: BINARY}, after, {path: BINARY}) == 0
    text = lane.series.read_text()
    for unit in lane.hunks():
        lane.series.write_text(text)
        lane.select(f"{path}:{unit.id}")
        tree = lane.applied().lock.tree
        wanted = (BINARY, "100755") if unit.lines == "mode" else (b"\0" + FIRST, "100644")
        assert (lane.read(tree)[path], lane.modes(tree)[path].mode) == wanted


def test_binary_that_both_sides_changed_is_a_conflict(lane: Lane) -> None:
    before = {"vllm/a.bin": BINARY, "vllm/b.bin": BINARY}
    after = dict.fromkeys(before, b"\0" + FIRST)
    assert carried(lane, "pull", before, after, {**after, "vllm/a.bin": b"\0" + LAST}) == 3
    assert lane.outcomes() == ["conflict", "landed"]


NAMES = [
    *("vllm/a b/c d.py", "vllm/it's.py", 'vllm/"q".py', "vllm/b/x.py", "vllm/a/b/a.py"),
    *("vllm/\u6a21\u578b.py", "vllm/a => b.py", "vllm/1", "vllm/diff --git a b"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_names_go_through(lane: Lane, kind: Kind) -> None:
    before, after = dict.fromkeys(NAMES, LINES), dict.fromkeys(NAMES, FIRST)
    assert carried(lane, kind, before, after, dict.fromkeys(NAMES, LAST)) == 0
    assert lane.read() == dict.fromkeys(NAMES, BOTH)


def test_names_of_top_folders_called_a_and_b_are_no_prefixes(lane: Lane) -> None:
    base = lane.start({FILE: LINES})
    head = lane.pull({"a/vllm/x.py": LINES, "b/vllm/x.py": LINES, FILE: FIRST}, base)
    assert lane.carry("pull", base, head) == 0
    assert lane.read() == {FILE: FIRST}


def test_names_that_no_filesystem_should_meet_are_refused(lane: Lane, capfd: Capture) -> None:
    base = lane.start({})
    for name in ("vllm/a\tb.py", "vllm/a\nb.py", "vllm/\udce9.py"):
        lane.pull({name: LINES}, base)
        assert lane.run("add", "1") == 1
        assert f"the path {name!r} holds a backslash, a control character" in capfd.readouterr().err


def test_a_submodule_is_refused(lane: Lane, capfd: Capture) -> None:
    base = lane.start({FILE: LINES})
    tree = lane.upstream.run("rev-parse", f"{base}:vllm").stdout.decode().strip()
    listed = lane.upstream.run("ls-tree", tree).stdout + f"160000 commit {'1' * 40}\tsub\n".encode()
    inner = lane.upstream.run("mktree", "--missing", stdin=listed).stdout.decode().strip()
    entry = f"040000 tree {inner}\tvllm\n".encode()
    outer = lane.upstream.run("mktree", stdin=entry).stdout.decode().strip()
    told = lane.upstream.run("commit-tree", outer, "-p", base, stdin=b"m").stdout.decode().strip()
    lane.upstream.run("update-ref", "refs/pull/1/head", told)
    assert lane.run("add", "1") == 1
    assert "vllm/sub is a submodule" in capfd.readouterr().err


def pointer(number: int) -> bytes:
    return (
        b"version https://git-lfs.github.com/spec/v1\n"
        b"oid sha256:" + b"%d" % number * 64 + b"\nsize 12345\n"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_lfs_pointer_is_carried_and_its_object_is_said_to_be_missing(
    lane: Lane, capfd: Capture, kind: Kind
) -> None:
    path = "vllm/weights.safetensors"
    rules = {"vllm/.gitattributes": b"*.safetensors filter=lfs diff=lfs merge=lfs -text\n"}
    before, after = {path: pointer(1), **rules}, {path: pointer(2), **rules}
    assert carried(lane, kind, before, after, {**before, FILE: LINES}) == 0
    assert lane.read()[path] == pointer(2)
    assert lane.run("report") == 0
    said = capfd.readouterr().out
    assert f"a Git LFS pointer: its object sha256:{'2' * 64} (12345 bytes) is not in" in said


def test_lfs_pointer_that_both_sides_changed_is_a_conflict(lane: Lane) -> None:
    path = "vllm/weights.safetensors"
    assert carried(lane, "pull", {path: pointer(1)}, {path: pointer(2)}, {path: pointer(3)}) == 3
