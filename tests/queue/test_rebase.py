"""What a rebase tells of each entry, and where it remembers to have stopped."""

import pytest

from lanewright.errors import LanewrightError
from lanewright.queue.move.rebase import Rebased, stops, told_rebase, try_lane
from lanewright.queue.move.stopped import remember, stopped_at
from lanewright.queue.move.target import Target
from lanewright.store.objects import CommitId
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import grow

FILE = "vllm/own.py"
TEXT = "def one():\n    return 1\n\n\n\n\n\ndef two():\n    return 2\n"
DONE = TEXT.replace("return 1", "return 11")


@pytest.fixture
def owned(carrying: Carrying) -> Carrying:
    """A lane on a commit with a file of its own, which a pull request changes."""
    base = grow(carrying, "main", carrying.main[-1], {FILE: TEXT})
    assert carrying.run("rebase", "--to", "main") == 0
    carrying.push(5, base, {FILE: DONE.encode()})
    assert carrying.run("add", "5") == 0
    return carrying


def tried(carrying: Carrying, text: str) -> Rebased:
    """The lane on a commit more of main, where the file is so."""
    base = carrying.lock.pin.commit
    grow(carrying, "main", base, {FILE: text})
    return try_lane(carrying.project, carrying.places, "sample", "main", keep_going=False)


def told(carrying: Carrying, text: str) -> str:
    return "\n".join(told_rebase(carrying.project, tried(carrying, text)))


def test_old_and_new_outcome_of_each_entry_are_told(owned: Carrying) -> None:
    before = owned.lock.pin.ref
    found = tried(owned, TEXT + "\n\n\n\n\n\nlast = 3\n")
    lines = "\n".join(told_rebase(owned.project, found))
    assert lines.startswith(
        f"lane sample: {before} -> {found.target.pin}\n  release = '0.31.0' stays"
    )
    assert "\n  5 (#5)\n    was " in lines
    assert found.moves
    assert not found.conflicts


def test_what_landed_is_told_with_the_command_to_drop_it(owned: Carrying) -> None:
    lines = told(owned, DONE)
    assert "clean -> landed" in lines
    assert "all of it has landed: lanewright drop 5" in lines


def test_what_was_reverted_is_carried_again(owned: Carrying) -> None:
    grow(owned, "main", owned.lock.pin.commit, {FILE: DONE})
    assert owned.run("rebase", "--to", "main") == 0
    assert "was reverted upstream, and is carried again" in told(owned, TEXT)


def test_a_conflict_is_told_with_its_cause(owned: Carrying) -> None:
    found = tried(owned, TEXT.replace("return 1", "return 99"))
    assert found.conflicts
    lines = "\n".join(told_rebase(owned.project, found))
    assert "clean -> conflict; " in lines
    assert found.target.pin in lines.rpartition("clean -> conflict")[2]


def test_where_it_stopped_is_remembered_until_the_lane_moves(owned: Carrying) -> None:
    stop = tried(owned, TEXT.replace("return 1", "return 99"))
    remember(owned.project, stops([stop]))
    assert stopped_at(owned.project, "sample") == Target(stop.target.pin, "0.31.0")
    assert stopped_at(owned.project, "other") is None
    assert owned.run("rebase", "--to", "git:" + owned.main[-1], "--keep-going") == 3
    assert stopped_at(owned.project, "sample") is None


def test_a_clean_try_forgets_the_stop(owned: Carrying) -> None:
    stop = tried(owned, TEXT.replace("return 1", "return 99"))
    remember(owned.project, stops([stop]))
    assert owned.run("rebase", "--to", f"git:{owned.lock.pin.commit}") == 0
    assert stopped_at(owned.project, "sample") is None


def test_a_damaged_memory_is_named(owned: Carrying) -> None:
    file = owned.root / ".lanewright/rebase.json"
    file.write_text("{")
    with pytest.raises(LanewrightError, match=r"rebase\.json is damaged") as error:
        stopped_at(owned.project, "sample")
    assert error.value.hint == f"rm {file}"


def test_resolve_means_the_pin_where_the_rebase_stopped(
    owned: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    commit: CommitId = grow(
        owned, "main", owned.lock.pin.commit, {FILE: TEXT.replace("return 1", "return 99")}
    )
    assert owned.run("rebase", "--to", "main") == 3
    grow(owned, "main", commit, {"vllm/later.py": ""})
    owned.settle("5")
    assert f"lanewright rebase --lane sample --to git:{commit}" in capfd.readouterr().err
    assert owned.run("rebase", "--to", f"git:{commit}") == 0
    assert {hunk.outcome for hunk in owned.lock.entries[0].hunks} == {"fixed"}
