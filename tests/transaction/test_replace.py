"""Files of a project change together, and once back."""

import base64
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.transaction.editing import editing
from lanewright.transaction.journal import pending_file, undo_file
from lanewright.transaction.replace import replace_together, undo
from tests.conftest import UPSTREAM, World
from tests.transaction.half_done import replaced, snapshot
from tests.upstream.diff import git

Capture = pytest.CaptureFixture[str]


def test_files_are_replaced_made_and_removed(project: Project) -> None:
    replaced(project, {"a": b"A\0\xff", "b": None, "new/folder/c": b""})
    after = {"upstream.toml": UPSTREAM.encode(), "a": b"A\0\xff", "new/folder/c": b""}
    assert snapshot(project.root) == after
    assert not pending_file(project).exists()
    assert (project.root / ".lanewright/.gitignore").read_text() == "*\n"


def test_paths_may_be_below_the_root(project: Project) -> None:
    replace_together(project, {Path("a"): b"A"}, what="a change")
    assert (project.root / "a").read_bytes() == b"A"


def test_undo_puts_everything_back_and_twice_is_redo(project: Project) -> None:
    before = snapshot(project.root)
    replaced(project, {"a": b"A", "b": None, "new/c": b"c"}, "rebase to release:0.32.0")
    after = snapshot(project.root)
    what, files = undo(project)
    assert what == "rebase to release:0.32.0"
    assert [file.relative_to(project.root).as_posix() for file in files] == ["a", "b", "new/c"]
    assert snapshot(project.root) == before
    assert not (project.root / "new").exists()
    assert undo(project)[0] == "undo of rebase to release:0.32.0"
    assert snapshot(project.root) == after
    assert undo(project)[0] == "rebase to release:0.32.0"


NAMES = st.sampled_from(["a", "b", "c", "d/e", "d/f", "g/h/i"])
CONTENTS = st.none() | st.binary(max_size=3)


@settings(deadline=None, database=None, max_examples=40)
@given(st.dictionaries(NAMES, st.binary(max_size=3)), st.dictionaries(NAMES, CONTENTS))
def test_any_change_is_made_taken_back_and_made_again(
    files: dict[str, bytes], changes: dict[str, bytes | None]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "upstream.toml").write_text(UPSTREAM)
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        project = Project.find(root)
        before = snapshot(root)
        wanted = {p: c for p, c in {**before, **changes}.items() if c is not None}
        replaced(project, changes)
        assert snapshot(root) == wanted
        if wanted == before:
            assert not undo_file(project).exists()
            return
        undo(project)
        assert snapshot(root) == before
        undo(project)
        assert snapshot(root) == wanted


def test_a_change_of_nothing_keeps_the_last_undo(project: Project) -> None:
    replaced(project, {"a": b"A"}, "the first")
    replaced(project, {"a": b"A", "absent": None}, "the second")
    replaced(project, {}, "the third")
    assert undo(project)[0] == "the first"


def test_permission_bits_are_kept_also_over_an_undo(project: Project) -> None:
    (project.root / "a").chmod(0o755)
    replaced(project, {"a": b"A", "b": b"B"})
    modes = [(project.root / name).stat().st_mode & 0o777 for name in "ab"]
    assert modes == [0o755, 0o644]
    replaced(project, {"a": None})
    undo(project)
    assert (project.root / "a").stat().st_mode & 0o777 == 0o755


def test_undo_refuses_a_file_that_was_edited_since(project: Project) -> None:
    replaced(project, {"a": b"A", "b": b"B"}, "a change")
    (project.root / "b").write_bytes(b"mine")
    with pytest.raises(LanewrightError, match=r"/b is no longer as 'a change' left it") as error:
        undo(project)
    assert error.value.hint == f"git -C {project.root} diff -- b"
    assert (project.root / "a").read_bytes() == b"A"


def test_nothing_to_undo(project: Project) -> None:
    with pytest.raises(LanewrightError, match="nothing to undo"):
        undo(project)


def test_a_symlink_that_stays_inside_is_followed(project: Project) -> None:
    (project.root / "real").mkdir()
    (project.root / "alias").symlink_to("real")
    replaced(project, {"alias/x": b"x"})
    assert (project.root / "real/x").read_bytes() == b"x"


def test_contents_are_kept_in_base64(project: Project) -> None:
    replaced(project, {"a": b"\xff\0"})
    [change] = json.loads(undo_file(project).read_bytes())["changes"]
    assert base64.b64decode(change["new"]) == b"\xff\0"


def test_an_own_folder_that_leads_elsewhere_is_refused(tmp_path: Path, world: World) -> None:
    (tmp_path / "elsewhere").mkdir()
    (world.root / ".lanewright").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LanewrightError, match=r"\.lanewright is a symlink"):
        replace_together(world.project, {Path("a"): b"x"}, what="a change")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_reading_works_where_no_folder_can_be_made(world: World, capfd: Capture) -> None:
    (world.root / ".lanewright").write_bytes(b"")  # stops root too, unlike permissions
    for command in ("list", "status", "report", "fetch"):
        assert world.run(command) == 0
    assert world.run("undo") == 1
    assert f"cannot make the folder {world.root / '.lanewright'}" in capfd.readouterr().err


def test_editing_holds_for_what_is_done_inside(project: Project) -> None:
    with editing(project):
        replaced(project, {"a": b"A"})
        undo(project)
        with editing(project):
            replaced(project, {"a": b"B"})
    assert (project.root / "a").read_bytes() == b"B"


def test_git_sees_nothing_of_it(world: World) -> None:
    replace_together(world.project, {Path("a"): b"a"}, what="a change")
    git(world.root, "init", "--quiet")
    git(world.root, "add", "--all")
    assert b".lanewright" not in git(world.root, "status", "--porcelain", "--untracked-files=all")
