"""``lanewright resolve``, as a person meets it between a rebase that stops and one that does not."""

import pytest

from lanewright.store.git import Repository
from lanewright.store.write import set_ref
from tests.upstream.clash import clash
from tests.upstream.fixtures import Carrying

PATH, OTHER = "vllm/one.py", "vllm/other.py"
BASE, OURS, THEIRS = (b"a = 1\nb = %d\nc = 1\n" % n for n in (1, 2, 3))


def last(capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What was printed: data, and the command that was said to be next."""
    captured = capfd.readouterr()
    return captured.out, captured.err.rpartition("  next: ")[2].strip()


def test_each_message_leads_to_the_next_command(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: BASE, OTHER: BASE}, {}, {PATH: THEIRS}, code=0)
    made.pull(6, {OTHER: THEIRS})
    pin = made.upstream({PATH: OURS, OTHER: None})
    set_ref(Repository(carrying.upstream), "refs/tags/v0.32.9", pin)
    run = carrying.run
    assert run("add", "6") == 0
    assert run("rebase", "--to", "v0.32.9") == 3
    assert last(capfd)[1] == "lanewright resolve 5"
    assert run("resolve") == 1  # which of the two?
    captured = capfd.readouterr()
    assert "several entries wait: 5, 6" in captured.err
    assert captured.err.endswith("next: lanewright resolve 5\n")
    assert run("resolve", "5") == 0
    listed, command = last(capfd)
    assert listed == f"{made.folder() / PATH}\n"
    assert command == "edit, or delete a file to remove it, then: lanewright resolve 5 --done"
    made.settle({PATH: b"mine = 1\n"})
    listed, command = last(capfd)
    assert listed.splitlines()[-1] == str(made.fixes()[0].relative_to(carrying.root))
    assert command == "lanewright resolve 6"
    made.settle({OTHER: None}, "6")
    _, command = last(capfd)
    assert command == f"lanewright rebase --lane sample --to git:{pin}"
    assert run(*command.split()[1:]) == 0
    assert carrying.lock.pin.ref == f"git:{pin}"
    assert carrying.lock.pin.version == "0.32.9"  # as the tag says, not as the pin before it


def test_hints_name_the_lane_and_the_pin_that_are_meant(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: BASE}, {}, {PATH: THEIRS}, code=0)
    carrying.series.rename(carrying.root / "series/other.toml")
    carrying.series.write_text(
        'title = "Empty"\ndevice = "cpu"\npin = "release:0.31.0"\n[model]\nrecipe = "qwen3-moe-tiny"\n'
    )
    pin = made.upstream({PATH: OURS})
    run = carrying.run
    capfd.readouterr()
    assert run("rebase", "--check", "--lane", "other", "--to", "main") == 4
    assert last(capfd)[1] == "lanewright rebase --lane other --to main"
    assert run("rebase", "--lane", "other", "--to", "main") == 3
    assert last(capfd)[1] == "lanewright resolve 5 --lane other"
    (carrying.root / ".lanewright/rebase.json").unlink()  # nobody remembers where it stopped
    assert run("resolve", "5", "--lane", "other") == 1
    assert run("resolve", "5", "--lane", "other", "--to", "main") == 0
    asked = f"lanewright resolve 5 --lane other --to git:{pin}"
    assert last(capfd)[1].endswith(f"then: {asked} --done")
    assert run(*asked.split()[1:], "--done") == 3
    assert last(capfd)[1] == f"edit, then: {asked} --done"
    (made.folder(lane="other") / PATH).write_bytes(b"mine = 1\n")
    moved = made.upstream({PATH: OURS, "vllm/new.py": b""}, onto=pin)
    assert run("resolve", "5", "--lane", "other", "--to", "main", "--done") == 1
    asked_now = f"lanewright resolve 5 --lane other --to git:{moved}"
    assert last(capfd)[1] == f"keep what you need of it, then: {asked_now} --again"
    assert run(*asked.split()[1:], "--done") == 0
    assert last(capfd)[1] == f"lanewright rebase --lane other --to git:{pin}"
    assert run("rebase", "--lane", "other", "--to", "main") == 0
    assert run("drop", "5", "--lane", "other") == 0


def test_conflicts_of_the_pin_itself_are_told_from_those_of_a_rebase_that_stopped(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: BASE}, {}, {PATH: THEIRS}, code=0)
    here = made.world.lock.pin.ref
    made.upstream({PATH: OURS})
    made.pull(6, {PATH: b"a = 1\nb = 6\nc = 1\n"})
    run = carrying.run
    assert run("rebase", "--to", "main") == 3
    capfd.readouterr()
    assert run("add", "6") == 3
    assert last(capfd)[1].startswith(f"lanewright resolve 6 --to {here}, or take it back")
    assert run("build") == 3
    assert last(capfd)[1] == f"lanewright resolve 6 --to {here}"
    made.settle({PATH: b"mine = 1\n"}, "6", "--to", here)
    assert last(capfd)[1] == "lanewright build sample"
    assert made.built()[PATH] == b"mine = 1\n"


def test_undo_takes_a_fix_back(carrying: Carrying, capfd: pytest.CaptureFixture[str]) -> None:
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    made.settle({PATH: b"mine = 1\n"})
    assert carrying.run("undo") == 0
    assert not made.fixes()
    assert carrying.run("build") == 3
    assert carrying.run("resolve", "5") == 0
    capfd.readouterr()


def test_what_was_tried_without_an_earlier_entry_says_so_once(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: BASE, OTHER: BASE}, {}, {PATH: THEIRS}, code=0)
    made.pull(6, {OTHER: THEIRS})
    made.upstream({PATH: OURS, OTHER: OURS})
    run = carrying.run
    assert run("add", "6") == 0
    capfd.readouterr()
    assert run("rebase", "--to", "main") == 3
    without = "tried without 5, which is in conflict; that may change what follows"
    assert capfd.readouterr().out.count("tried without") == 1
    assert run("resolve", "6") == 0
    assert without in capfd.readouterr().err
    assert run("resolve", "5") == 0
    assert "tried without" not in capfd.readouterr().err


def test_a_fix_is_not_told_as_not_needed_while_an_earlier_entry_is_left_out(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    six = THEIRS.replace(b"b = 3", b"b = 6")
    made = clash(carrying, {PATH: BASE}, {}, {PATH: THEIRS}, code=0)
    made.pull(6, {PATH: six})
    assert carrying.run("add", "6") == 3
    made.settle({PATH: b"mine = 1\n"}, "6")
    assert carrying.run("build") == 0
    made.pull(5, {PATH: THEIRS, OTHER: THEIRS})
    assert carrying.run("add", "5", "--update") == 0
    made.upstream({OTHER: OURS})
    capfd.readouterr()
    assert carrying.run("rebase", "--to", "main") == 3
    told = capfd.readouterr().out
    assert "tried without 5" in told
    assert "fix not needed here" not in told


def test_a_stale_fix_is_told_as_one(carrying: Carrying, capfd: pytest.CaptureFixture[str]) -> None:
    far = b"".join(b"x%d = 0\n" % n for n in range(20))
    made = clash(carrying, {PATH: BASE + far}, {PATH: OURS + far}, {PATH: THEIRS + far})
    made.settle({PATH: b"mine = 1\n" + far})
    assert carrying.run("build") == 0
    made.upstream({PATH: OURS + far.replace(b"x19 = 0", b"x19 = 1")})
    assert carrying.run("rebase", "--to", "main") == 0
    capfd.readouterr()
    assert carrying.run("resolve", "5") == 0
    told = capfd.readouterr().err
    assert f"{PATH}: its fix was merged again without conflict, since a side moved" in told
    assert "next: if right as it is: lanewright resolve 5 --done; else edit" in told
    assert "ours is the lane before it" in told
    assert carrying.run("resolve", "5", "--done") == 0


def test_a_hunk_of_which_upstream_has_nothing_is_not_recorded_as_landed(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    far = b"".join(b"x%d = 0\n" % n for n in range(20))
    theirs = {PATH: THEIRS + far, OTHER: THEIRS}
    clash(
        carrying, {PATH: BASE + far, OTHER: BASE}, {PATH: BASE + far + b"y = 1\n"}, theirs, code=0
    )
    series, lock = carrying.series.read_bytes(), carrying.lock
    hunks = {hunk.outcome: hunk for hunk in lock.entries[0].hunks}
    assert set(hunks) == {"clean", "merged"}
    for outcome, hunk in hunks.items():
        part = f"5:{hunk.path}:{hunk.id}"
        capfd.readouterr()
        assert carrying.run("drop", part, "--landed") == 1
        told = capfd.readouterr().err
        assert f"{part} is {outcome}, so upstream has nothing of it to record as landed" in told
        assert told.endswith(f"next: to carry it no more: lanewright drop {part}\n")
    assert (carrying.series.read_bytes(), carrying.lock) == (series, lock)


def test_drop_says_which_work_folder_it_leaves(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    made = clash(carrying, {PATH: BASE}, {PATH: OURS}, {PATH: THEIRS})
    assert carrying.run("resolve", "5") == 0
    (made.folder() / PATH).write_bytes(b"mine = 1\n")
    capfd.readouterr()
    assert carrying.run("drop", "5") == 0
    assert f"its work folder stays, with what you edited there: rm -r {made.folder()}" in (
        capfd.readouterr().err
    )
    assert (made.folder() / PATH).read_bytes() == b"mine = 1\n"
