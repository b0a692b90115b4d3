"""What ``status`` and ``list`` say of a lane that waits for a person, and what to type next."""

import pytest

from tests.upstream.clash import Clash, clash
from tests.upstream.fixtures import Carrying

PATH, OTHER = "vllm/one.py", "vllm/other.py"
BASE, OURS, THEIRS = (b"a = 1\nb = %d\nc = 1\n" % n for n in (1, 2, 3))

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def made(carrying: Carrying) -> Clash:
    """A lane ``other`` that is not the default one and carries two that upstream clashes with."""
    made = clash(carrying, {PATH: BASE, OTHER: BASE}, {}, {PATH: THEIRS}, code=0)
    made.pull(6, {OTHER: THEIRS})
    assert carrying.run("add", "6") == 0
    carrying.series.rename(carrying.root / "series/other.toml")
    assert carrying.run("build", "other") == 0
    made.upstream({PATH: OURS, OTHER: OURS})
    return made


def lines(made: Clash, capfd: Capture, *words: str) -> list[str]:
    """What a reading command prints of the lane."""
    capfd.readouterr()
    assert made.world.run(*words) == 0
    return [line.strip() for line in capfd.readouterr().out.splitlines()]


def settle(made: Clash, entry: str, *more: str) -> None:
    """Resolve an entry's one conflict in the lane ``other``."""
    words = ("resolve", entry, "--lane", "other", *more)
    assert made.world.run(*words) == 0
    for file in made.folder(entry, "other").glob("vllm/*.py"):
        file.write_bytes(b"mine = 1\n")
    assert made.world.run(*words, "--done") == 0


def test_after_a_rebase_that_stopped_the_conflicts_come_first(made: Clash, capfd: Capture) -> None:
    assert made.world.run("rebase", "--lane", "other", "--to", "main") == 3
    for entry in ("5", "6"):
        assert f"next: lanewright resolve {entry} --lane other" in lines(
            made, capfd, "status", "other"
        )
        settle(made, entry)
    [following] = [e for e in lines(made, capfd, "status", "other") if e.startswith("next: ")]
    assert following.startswith("next: lanewright rebase --lane other --to git:")
    assert made.world.run(*following.split()[2:]) == 0
    assert not any(e.startswith("next: ") for e in lines(made, capfd, "status", "other"))


def test_the_next_command_of_the_default_lane_names_it_too(
    carrying: Carrying, capfd: Capture
) -> None:
    made = clash(carrying, {PATH: BASE}, {}, {PATH: THEIRS}, code=0)
    pin = made.upstream({PATH: OURS})
    assert carrying.run("rebase", "--lane", "sample", "--to", "main") == 3
    assert "next: lanewright resolve 5" in lines(made, capfd, "status")
    made.settle({PATH: b"mine = 1\n"})
    assert f"next: lanewright rebase --lane sample --to git:{pin}" in lines(made, capfd, "status")


def test_an_add_in_conflict_is_not_carried_yet(made: Clash, capfd: Capture) -> None:
    head = made.pull(7, {PATH: b"a = 1\nb = 7\nc = 1\n"})
    assert made.world.run("add", "7", "--lane", "other") == 3
    told = lines(made, capfd, "status", "other")
    assert f"#7: in the series at {head[:12]}, not carried yet" in told
    assert "next: lanewright resolve 7 --lane other" in told
    assert any(each.startswith("#5: carried at ") for each in told)
    marked = [e for e in lines(made, capfd, "list", "other") if e.endswith("not carried yet)")]
    assert marked == [f"7  #7 at {head[:12]}  (in conflict: not carried yet)"]
    settle(made, "7")
    assert "next: lanewright build other" in lines(made, capfd, "status", "other")
    assert not any("in conflict" in each for each in lines(made, capfd, "list", "other"))
    assert made.world.run("build", "other") == 0
    assert f"#7: carried at {head[:12]}" in lines(made, capfd, "status", "other")


def test_undo_of_an_add_in_conflict_leaves_nothing_to_settle(made: Clash, capfd: Capture) -> None:
    made.pull(7, {PATH: b"a = 1\nb = 7\nc = 1\n"})
    assert made.world.run("add", "7", "--lane", "other") == 3
    assert made.world.run("undo") == 0
    assert not any(e.startswith("next: ") for e in lines(made, capfd, "status", "other"))
    assert not any("in conflict" in each for each in lines(made, capfd, "list", "other"))


def test_a_rebase_that_kept_going_names_whom_it_left_out(made: Clash, capfd: Capture) -> None:
    assert made.world.run("rebase", "--lane", "other", "--to", "main", "--keep-going") == 3
    told = lines(made, capfd, "status", "other")
    assert "open: 5 and 6 are left out whole until a person settles 2 hunks" in told
    assert sum(each.startswith(("#5: left out, at ", "#6: left out, at ")) for each in told) == 2
    assert "next: lanewright resolve 5 --lane other" in told
    settle(made, "5")
    assert made.world.run("build", "other") == 3


def test_list_names_the_lane_that_has_an_entry(made: Clash, capfd: Capture) -> None:
    (made.world.root / "series/sample.toml").write_text(
        'title = "Empty"\ndevice = "cpu"\npin = "release:0.31.0"\n[model]\nrecipe = "qwen3-moe-tiny"\n'
    )
    capfd.readouterr()
    assert made.world.run("list", "5") == 1
    assert capfd.readouterr().err == (
        "lanewright: 5 is an entry of other\n  next: lanewright list other 5\n"
    )
    assert made.world.run("list", "other", "5") == 0
