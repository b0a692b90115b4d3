"""What a killed run left half done is finished by the next, once."""

from pathlib import Path

import pytest

from lanewright.errors import LanewrightError
from lanewright.project import Project
from lanewright.store.atomic import replace_file
from lanewright.transaction.editing import editing, recover
from lanewright.transaction.forward import roll_forward
from lanewright.transaction.journal import SCHEMA, Change, Transaction, encode, pending_file
from lanewright.transaction.replace import undo
from tests.conftest import UPSTREAM, World
from tests.process import finish, start
from tests.transaction.half_done import leave_pending, replaced, snapshot

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("done", [0, 1, 2])
def test_what_was_left_half_done_is_finished_and_said(
    project: Project, capfd: Capture, done: int
) -> None:
    changes = [Change("a", b"a", b"A", 0o644), Change("b", b"b", None, 0o644)]
    leave_pending(project, *changes, what="move")
    if done > 0:
        (project.root / "a").write_bytes(b"A")
    if done > 1:
        (project.root / "b").unlink()
    (project.root / ".a.lanewright").write_bytes(b"half of it")
    assert recover(project) == "move"
    assert "finished what an earlier run had begun: move" in capfd.readouterr().err
    assert snapshot(project.root) == {"upstream.toml": UPSTREAM.encode(), "a": b"A"}
    assert recover(project) is None
    assert undo(project)[0] == "move"
    assert (project.root / "b").read_bytes() == b"b"


def test_where_nothing_was_left_nothing_is_made(project: Project) -> None:
    assert recover(project) is None
    assert not (project.root / ".lanewright").exists()


def test_every_command_finishes_first_what_was_left(world: World, capfd: Capture) -> None:
    old = (world.root / "upstream.toml").read_bytes()
    (world.root / "series/other.toml").write_bytes((world.root / "series/sample.toml").read_bytes())
    new = old.replace(b'"sample"', b'"other"')
    leave_pending(world.project, Change("upstream.toml", old, new, 0o644), what="other default")
    assert world.run("build") == 0
    captured = capfd.readouterr()
    assert "finished what an earlier run had begun: other default" in captured.err
    assert (world.root / "series/other.lock").exists()  # and it works on what it finished


def test_a_file_edited_meanwhile_is_not_overwritten(project: Project) -> None:
    changes = [Change("a", b"a", b"A", 0o644), Change("b", b"b", b"B", 0o644)]
    file = leave_pending(project, *changes)
    (project.root / "b").write_bytes(b"mine")
    with pytest.raises(LanewrightError, match="/b was edited while 'a change' was half") as error:
        recover(project)
    assert f"rm {file}" in str(error.value.hint)
    assert (project.root / "a").read_bytes() == b"a"


def test_a_file_that_cannot_be_written_leaves_a_change_that_the_next_command_finishes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes, *, mode: int, scratch: Path) -> None:
        if path.name == "b":
            raise OSError(28, "No space left on device", str(path))
        replace_file(path, content, mode=mode, scratch=scratch)

    with monkeypatch.context() as patched:
        patched.setattr("lanewright.transaction.forward.replace_file", full)
        with pytest.raises(LanewrightError, match=r"cannot finish 'move': .*/b: No space left"):
            replaced(project, {"a": b"A", "b": b"B"}, "move")
    assert recover(project) == "move"
    assert (project.root / "b").read_bytes() == b"B"


def test_who_interrupts_a_decided_change_gets_all_of_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupts = [KeyboardInterrupt()]

    def interrupted(path: Path, content: bytes, *, mode: int, scratch: Path) -> None:
        if path.name == "b" and interrupts:
            raise interrupts.pop()
        replace_file(path, content, mode=mode, scratch=scratch)

    monkeypatch.setattr("lanewright.transaction.forward.replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replaced(project, {"a": b"A", "b": b"B"})
    assert (project.root / "b").read_bytes() == b"B"
    assert recover(project) is None


def test_another_process_waits_for_an_editor_and_finds_its_change_whole(world: World) -> None:
    project = world.project
    changes = (Change("a", None, b"a", 0o644), Change("b", None, b"b", 0o644))
    transaction = Transaction(SCHEMA, "a change", changes)
    with editing(project):
        pending_file(project).write_bytes(encode(transaction))
        process = start(world.root, "list")
        assert process.stderr
        assert process.stderr.readline() == (
            f"waiting for another lanewright that edits {world.root}\n"
        )
        assert not (world.root / "a").exists()
        roll_forward(project, transaction)
    code, _, talk = finish(process)
    assert (code, talk) == (0, "")


def test_of_processes_that_find_a_half_done_change_one_finishes_it(world: World) -> None:
    leave_pending(world.project, Change("a", None, b"a", 0o644))
    ended = [finish(each) for each in [start(world.root, "list") for _ in range(3)]]
    assert [code for code, _, _ in ended] == [0, 0, 0], ended
    assert sum("finished what an earlier run" in talk for _, _, talk in ended) == 1
    assert (world.root / "a").read_bytes() == b"a"
