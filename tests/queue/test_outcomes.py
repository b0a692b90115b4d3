"""What is said of each hunk when upstream moved on: whole builds against small upstreams."""

from collections.abc import Mapping

import pytest

from lanewright.errors import ConflictError, LanewrightError
from lanewright.queue.apply import apply_plan
from lanewright.queue.build import build
from lanewright.queue.lock import HunkState
from lanewright.queue.plan import plan
from lanewright.store.objects import files, read_blobs
from tests.conftest import AddRelease, World
from tests.upstream.diff import HEADER, diff, git, own_patch
from tests.upstream.used import name_in_a_test, naming_the_test

FILE = "vllm/x.py"
LINES = b"".join(b"line_%d = 0\n" % number for number in range(20))
FIRST, LAST = LINES.replace(b"line_1 =", b"one ="), LINES.replace(b"line_18 =", b"eighteen =")
MANY = b"".join(
    b"    def %s(self):\n        x = 1\n        return x\n\n" % name for name in (b"a", b"b", b"c")
)
TWINS = b"class C:\n" + MANY

Tree = Mapping[str, bytes]


class Lane:
    """A lane with one patch, made on release 2.0, and a pin at 2.1."""

    def __init__(self, world: World, release: AddRelease) -> None:
        self.world = world
        self.release = release

    def carry(self, base: Tree, patched: Tree, pin: Tree, *, mode: str = "") -> None:
        everything: dict[str, Tree] = {"2.0": base, "2.1": pin}
        for version, tree in everything.items():
            self.release(version, {"vllm/__init__.py": b"", **tree})
        scratch = self.world.root / "made"
        if mode:
            diff(scratch, base, patched)
            git(scratch, "update-index", "--chmod=+x", mode)
            changes = git(scratch, "diff", "--cached", "--full-index", "--no-renames")
            content = HEADER.format(base="release:2.0").encode() + b"\n" + changes
        else:
            content = own_patch(scratch, base, patched, base="release:2.0")
        name_in_a_test(self.world.root, patched)
        (self.world.root / "patches/own/hook.patch").write_bytes(naming_the_test(content))
        self.world.edit("series/sample.toml", "release:1.1", "release:2.1")

    def hunks(self) -> list[HunkState]:
        applied = apply_plan(
            self.world.project, self.world.places, plan(self.world.project, "sample")
        )
        return applied.lock.entries[0].hunks

    def outcomes(self) -> list[str]:
        return [hunk.outcome for hunk in self.hunks()]

    def built(self) -> dict[str, bytes]:
        tree = build(self.world.project, self.world.places, "sample").lock.tree
        listed = files(self.world.repository, tree)
        blobs = read_blobs(self.world.repository, [file.blob for file in listed.values()])
        return {path: blobs[file.blob] for path, file in listed.items()}


@pytest.fixture
def lane(world: World, release: AddRelease) -> Lane:
    return Lane(world, release)


@pytest.mark.parametrize(
    ("base", "patched", "pin", "expected"),
    [
        ({FILE: LINES}, {FILE: FIRST}, {FILE: LINES}, ["clean"]),
        ({FILE: LINES}, {FILE: FIRST}, {FILE: LAST}, ["merged"]),
        ({FILE: LINES}, {FILE: FIRST}, {FILE: FIRST}, ["landed"]),
        ({FILE: LINES}, {FILE: FIRST}, {FILE: LINES.replace(b"line_1 ", b"uno ")}, ["conflict"]),
        ({FILE: LINES}, {FILE: FIRST}, {}, ["file missing"]),
        ({FILE: LINES}, {FILE: FIRST}, {"vllm/moved.py": LINES}, ["file missing"]),
        ({FILE: LINES}, {}, {FILE: LINES}, ["clean"]),
        ({FILE: LINES}, {}, {}, ["landed"]),
        ({FILE: LINES}, {}, {FILE: LAST}, ["conflict"]),
        ({}, {FILE: LINES}, {}, ["clean"]),
        ({}, {FILE: LINES}, {FILE: LINES}, ["landed"]),
        ({}, {FILE: LINES}, {FILE: LAST}, ["landed changed"]),
        ({}, {FILE: b""}, {}, ["clean"]),
        ({}, {FILE: b""}, {FILE: b""}, ["landed"]),
        ({FILE: b""}, {}, {FILE: b""}, ["clean"]),
        ({FILE: b""}, {}, {}, ["landed"]),
        ({FILE: b""}, {}, {FILE: LINES}, ["conflict"]),
    ],
)
def test_one_change_against_what_upstream_did(
    lane: Lane, base: Tree, patched: Tree, pin: Tree, expected: list[str]
) -> None:
    lane.carry(base, patched, pin)
    assert lane.outcomes() == expected
    if expected[0] in {"conflict", "file missing", "landed changed"}:
        with pytest.raises(ConflictError, match=FILE):
            lane.built()
    elif expected == ["landed"]:
        found = lane.built()
        assert {path: found[path] for path in pin} == pin
    else:
        assert lane.built().get(FILE) == (
            patched.get(FILE) if pin == base else LAST.replace(b"line_1 =", b"one =")
        )


@pytest.mark.parametrize(
    ("before", "after"),
    [(LINES, LINES), (LINES, FIRST)],
    ids=["mode alone", "mode and an edit"],
)
def test_a_mode_is_carried_as_a_hunk_of_its_own(lane: Lane, before: bytes, after: bytes) -> None:
    lane.carry({FILE: before}, {FILE: after}, {FILE: LAST}, mode=FILE)
    hunks = lane.hunks()
    assert [hunk.lines for hunk in hunks][-1] == "mode"
    assert len(hunks) == (1 if before == after else 2)
    tree = build(lane.world.project, lane.world.places, "sample").lock.tree
    assert files(lane.world.repository, tree)[FILE].mode == "100755"


@pytest.mark.parametrize("wanted", ["the edit", "the mode"])
def test_an_edit_and_a_mode_can_be_chosen_apart(lane: Lane, wanted: str) -> None:
    lane.carry({FILE: LINES}, {FILE: FIRST}, {FILE: LINES}, mode=FILE)
    edit, mode = (hunk.id for hunk in lane.hunks())
    chosen = edit if wanted == "the edit" else mode
    lane.world.edit(
        "series/sample.toml", "[[entry]]\npatch", f'[[entry]]\nselect = ["{FILE}:{chosen}"]\npatch'
    )
    content = lane.built()[FILE]
    tree = build(lane.world.project, lane.world.places, "sample").lock.tree
    found = files(lane.world.repository, tree)[FILE].mode
    assert (content, found) == ((FIRST, "100644") if chosen == edit else (LINES, "100755"))


def test_a_removal_whose_hunks_leave_lines_is_refused(lane: Lane) -> None:
    lane.carry({FILE: LINES}, {}, {FILE: LINES})
    patch = "patches/own/hook.patch"
    lane.world.edit(patch, "@@ -1,20 +0,0 @@", "@@ -1,19 +0,0 @@")
    lane.world.edit(patch, "-line_19 = 0\n", "")
    with pytest.raises(LanewrightError, match=r"vllm/x\.py: .*leave some of its lines"):
        lane.built()


def test_upstream_removed_one_of_three_equal_methods(lane: Lane) -> None:
    edited = TWINS.replace(b"b(self):\n        x = 1", b"b(self):\n        x = 2")
    removed = TWINS.replace(b"    def b(self):\n        x = 1\n        return x\n\n", b"")
    lane.carry({FILE: TWINS}, {FILE: edited}, {FILE: removed})
    assert lane.outcomes() == ["conflict"]


def test_upstream_added_another_equal_method_above(lane: Lane) -> None:
    edit = (b"b(self):\n        x = 1", b"b(self):\n        x = 2")
    fourth = TWINS.replace(
        b"class C:\n", b"class C:\n    def z(self):\n        x = 1\n        return x\n\n"
    )
    lane.carry({FILE: TWINS}, {FILE: TWINS.replace(*edit)}, {FILE: fourth})
    assert lane.built()[FILE] == fourth.replace(*edit)


def test_the_same_line_at_another_indent_has_not_landed(lane: Lane) -> None:
    base = b"def f(x):\n    if x:\n        g()\n\n\n\n    h()\n"
    patched = base.replace(b"        g()\n", b"        g()\n        k()\n")
    pin = base.replace(b"        g()\n", b"        g()\n    k()\n")
    lane.carry({FILE: base}, {FILE: patched}, {FILE: pin})
    assert lane.outcomes() == ["conflict"]


def test_upstreams_fix_is_never_taken_back(lane: Lane) -> None:
    fixed = LAST.replace(b"line_1 =", b"one =")
    lane.carry({FILE: LINES}, {FILE: FIRST}, {FILE: fixed})
    assert lane.outcomes() == ["landed"]
    assert lane.built()[FILE] == fixed


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_hunk_at_the_end_of_a_file_that_moved(lane: Lane, end: bytes) -> None:
    base = LINES + b"def f():\n    return 1" + end
    edit, move = (b"return 1", b"return 2"), (b"line_1 =", b"one =")
    lane.carry({FILE: base}, {FILE: base.replace(*edit)}, {FILE: base.replace(*move)})
    assert lane.outcomes() == ["merged"]
    assert lane.built()[FILE] == base.replace(*edit).replace(*move)


def test_line_ends_and_latin_1_go_through(lane: Lane) -> None:
    base = (b"# -*- coding: latin-1 -*-\n" + LINES + b"s = '\xe9'\n").replace(b"\n", b"\r\n")
    edit, move = (b"'\xe9'", b"'\xe8'"), (b"line_1 =", b"one =")
    lane.carry({FILE: base}, {FILE: base.replace(*edit)}, {FILE: base.replace(*move)})
    assert lane.built()[FILE] == base.replace(*edit).replace(*move)


def test_a_patch_that_swaps_a_file_for_a_folder(lane: Lane) -> None:
    base = {"vllm/x": LINES, "vllm/y/z": LINES}
    patched = {"vllm/x/a": LINES, "vllm/y": LINES}
    lane.carry(base, patched, {**base, FILE: b""})
    assert {path: text for path, text in lane.built().items() if text == LINES} == patched


def test_odd_names_are_carried_and_told(lane: Lane, capfd: pytest.CaptureFixture[str]) -> None:
    names = ["vllm/a b.py", 'vllm/"q".py', "vllm/ünï.py"]
    lane.carry(dict.fromkeys(names, LINES), dict.fromkeys(names, FIRST), dict.fromkeys(names, LAST))
    both = LAST.replace(b"line_1 =", b"one =")
    assert {path: text for path, text in lane.built().items() if path in names} == dict.fromkeys(
        names, both
    )
    capfd.readouterr()
    assert lane.world.run("report") == 0
    out = capfd.readouterr().out
    for name in names:
        assert f"  {name}\n" in out


def test_a_new_file_is_not_moved_after_a_folder_that_upstream_renamed(lane: Lane) -> None:
    old = {f"vllm/old/{name}.py": LINES + name.encode() for name in "abc"}
    new = {path.replace("old", "new"): content for path, content in old.items()}
    lane.carry(old, {**old, "vllm/old/d.py": b"added = 1\n"}, new)
    assert lane.outcomes() == ["clean"]
    assert lane.built()["vllm/old/d.py"] == b"added = 1\n"


def test_a_new_file_where_upstream_put_a_file_in_the_folders_place(lane: Lane) -> None:
    lane.carry({}, {"vllm/a/b.py": b"added = 1\n"}, {"vllm/a": b"a file\n"})
    (hunk,) = lane.hunks()
    assert hunk.outcome == "conflict"
    assert "vllm/a is in the way" in hunk.cause
    with pytest.raises(ConflictError, match=r"vllm/a/b\.py"):
        lane.built()
