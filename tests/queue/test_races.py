"""Commands beside each other: editors wait for each other, readers see one state or the other."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lanewright.queue.lock import read_lock
from lanewright.queue.plan import plan
from lanewright.transaction.reading import of_one_state
from lanewright.transaction.replace import replace_together
from tests.process import finish, start
from tests.upstream.fixtures import Carrying
from tests.upstream.whole import leavings, require_whole_lane, require_whole_refs

ROWS, BATCH = "97943", "91474"
TO = ("rebase", "--to", "0.32.0")
UNDOING = """\
import sys
from pathlib import Path
from lanewright.project import Project
from lanewright.transaction.replace import undo
project = Project.find(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    undo(project)
"""


@pytest.fixture
def rows(carrying: Carrying) -> Carrying:
    """A lane that carries one pull request."""
    assert carrying.run("add", ROWS) == 0
    return carrying


def require_whole(carrying: Carrying) -> None:
    assert leavings(carrying) == []
    require_whole_refs(carrying)
    require_whole_lane(carrying, check=0)


def both(*started: subprocess.Popen[str]) -> list[tuple[int, str, str]]:
    ended = [finish(process) for process in started]
    assert [code for code, _, _ in ended] == [0] * len(started), ended
    return ended


def test_of_two_rebases_at_once_the_second_finds_the_work_done(rows: Carrying) -> None:
    ended = both(start(rows.root, *TO), start(rows.root, *TO))
    assert sum("lock written" in talk for _, _, talk in ended) == 1
    assert sum("is on release:0.32.0 already" in talk for _, _, talk in ended) == 1
    assert rows.lock.pin.ref == "release:0.32.0"
    require_whole(rows)


def test_an_add_beside_a_build_gives_a_lock_of_the_new_series(rows: Carrying) -> None:
    (rows.root / "series/sample.lock").unlink()
    both(start(rows.root, "build"), start(rows.root, "add", BATCH))
    assert [entry.name for entry in rows.lock.entries] == [ROWS, BATCH]
    require_whole(rows)


def test_an_undo_beside_a_rebase_takes_back_what_was_before_it_or_the_rebase(
    rows: Carrying,
) -> None:
    assert rows.run("add", BATCH) == 0
    both(start(rows.root, *TO), start(rows.root, "undo"))
    state = (rows.lock.pin.ref, [entry.name for entry in rows.lock.entries])
    assert state in [("release:0.31.0", [ROWS, BATCH]), ("release:0.32.0", [ROWS])]
    require_whole(rows)


def test_two_projects_share_a_store(rows: Carrying) -> None:
    other = replace(rows, root=Path(shutil.copytree(rows.root, rows.root.with_name("other"))))
    both(start(rows.root, *TO), start(other.root, "add", BATCH))
    both(start(rows.root, "add", BATCH), start(other.root, *TO))
    assert rows.lock.tree == other.lock.tree
    require_whole(rows)
    require_whole(other)


def test_a_reader_that_meets_a_rename_reads_again(carrying: Carrying) -> None:
    project, series = carrying.project, carrying.series
    lock = project.lock_file("sample")
    assert carrying.run("build") == 0
    old = (series.read_bytes(), lock.read_bytes())
    met = [True]

    def read() -> tuple[bytes, bytes]:
        first = series.read_bytes()
        if met and met.pop():
            changes = {series: first + b"# more\n", lock: b"another\n"}
            replace_together(project, changes, what="an edit")
        return first, lock.read_bytes()

    found = of_one_state(project, read)
    assert found == (old[0] + b"# more\n", b"another\n")


def test_what_a_reader_trips_over_in_the_middle_of_an_edit_is_no_error(carrying: Carrying) -> None:
    project, lock = carrying.project, carrying.project.lock_file("sample")
    assert carrying.run("build") == 0
    whole, met = lock.read_bytes(), [True]

    def read() -> str:
        if met and met.pop():
            replace_together(project, {lock: b"{"}, what="an edit")
            try:
                read_lock(lock)
            finally:
                replace_together(project, {lock: whole}, what="another")
        return plan(project, "sample").lane

    assert of_one_state(project, read) == "sample"


@pytest.mark.parametrize("times", [30, pytest.param(300, marks=pytest.mark.engine_full)])
def test_readers_in_a_loop_see_one_state_or_the_other(
    rows: Carrying, capfd: pytest.CaptureFixture[str], times: int
) -> None:
    commands = [("status",), ("list", "--json"), ("report", "--json"), ("build", "--check")]
    told = {command: read(rows, capfd, *command) for command in commands}
    assert rows.run(*TO) == 0
    after = {command: read(rows, capfd, *command) for command in commands}
    undoing = subprocess.Popen(
        [sys.executable, "-c", UNDOING, str(rows.root), str(times)],
        stderr=subprocess.PIPE,
        text=True,
    )
    rounds = 0
    while undoing.poll() is None or not rounds:
        for command in commands:
            assert read(rows, capfd, *command) in (told[command], after[command]), command
        rounds += 1
    assert finish(undoing)[0] == 0
    require_whole(rows)


def read(carrying: Carrying, capfd: pytest.CaptureFixture[str], *command: str) -> tuple[int, str]:
    capfd.readouterr()
    code = carrying.run(*command)
    return code, capfd.readouterr().out
