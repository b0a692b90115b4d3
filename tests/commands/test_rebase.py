"""``lanewright rebase``: several lanes, what is written, and what is only told."""

from pathlib import Path

import pytest

from lanewright.queue.lock import is_open, read_lock
from tests.upstream.fixtures import Carrying
from tests.upstream.lanes import on_git, pin_of, stand

POOL, BANK = "96177", "97943"
BANK_FILE = "vllm/model_executor/layers/fused_moe/uva_bank.py"
SITE = '\n[image]\nsite_packages = "/usr/lib/python3/dist-packages"\n'
CONFIG = "vllm/engine/arg_utils.py"


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file of a project, hidden ones too."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def clash(carrying: Carrying, number: int) -> str:
    """A pull request that conflicts with what upstream did between 0.31.0 and 0.32.0."""
    text = carrying.read(carrying.lock.pin.tree)[CONFIG]
    changed = text.replace(b"        self.steps += 1\n", b"        self.steps += %d\n" % number)
    assert changed != text
    carrying.push(number, carrying.main[0], {CONFIG: changed})
    return str(number)


@pytest.fixture
def built(carrying: Carrying) -> Carrying:
    assert carrying.run("build") == 0
    return carrying


def test_all_lanes_are_tried_all_conflicts_told_and_the_clean_ones_written_in_one_step(
    built: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = clash(built, 5), clash(built, 6)
    for lane in ("clean", "other", "plain"):
        stand(built, 'pin = "release:0.31.0"', lane=lane)
    assert built.run("add", first) == 0
    assert built.run("add", second, "--lane", "other") == 0
    assert built.run("add", BANK, "--lane", "clean") == 0
    assert built.run("build", "plain") == 0
    before = snapshot(built.root / "series")
    capfd.readouterr()
    assert built.run("rebase", "--to", "0.32.0") == 3
    out, err = capfd.readouterr()
    for lane in ("clean", "other", "plain", "sample"):
        assert f"lane {lane}: release:0.31.0 -> release:0.32.0" in out
    for lane, entry in (("other", second), ("sample", first)):
        assert f"lane {lane}: stays on release:0.31.0, lock untouched" in err
        assert f"lane {lane}: in conflict: {entry}\n  {entry}: {CONFIG}, hunk " in err
    assert f"next: lanewright resolve {second} --lane other" in err
    pins = {lane: pin_of(built, lane) for lane in built.project.lanes()}
    old, new = ['pin = "release:0.31.0"'], ['pin = "release:0.32.0"']
    assert pins == {"clean": new, "other": old, "plain": new, "sample": old}
    for lane in ("clean", "plain"):
        lock = read_lock(built.root / f"series/{lane}.lock")
        assert lock
        assert lock.pin.ref == "release:0.32.0"
    assert built.run("undo") == 0
    assert snapshot(built.root / "series") == before


def test_a_lane_that_cannot_be_taken_anywhere_stops_no_other(
    built: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(built, 'pin = "release:0.31.0"', 'track = "main"', lane="moving")
    stand(built, *on_git(built.main[0]), lane="stuck")
    stand(built, 'pin = "release:0.31.0"', 'track = "nowhere"', lane="lost")
    built.series.unlink()
    assert built.run("rebase") == 1
    err = capfd.readouterr().err
    assert "lane stuck: stays; it is on a commit, and no `track` says where it goes" in err
    assert "series/lost.toml: --to nowhere: " in err
    assert pin_of(built, "moving") == list(on_git(built.main[-1]))
    assert pin_of(built, "stuck") == list(on_git(built.main[0]))
    assert built.run("rebase", "--check") == 1
    assert built.run("rebase", "--lane", "stuck") == 1
    assert "nothing says where its git pin goes" in capfd.readouterr().err


def test_lane_names_the_one_that_moves(built: Carrying) -> None:
    stand(built, 'pin = "release:0.31.0"', lane="other")
    assert built.run("rebase", "--to", "main", "--lane", "other") == 0
    assert pin_of(built) == ['pin = "release:0.31.0"']
    assert pin_of(built, "other") == list(on_git(built.main[-1]))
    assert built.run("rebase", "--to", "main", "--lane", "absent") == 1


def test_a_release_lane_goes_to_git_and_back(built: Carrying) -> None:
    text, tree = built.series.read_text(), built.lock.tree
    assert built.run("rebase", "--to", "v0.31.0") == 0
    assert pin_of(built) == list(on_git(built.main[0]))
    assert (built.lock.pin.source, built.lock.tree) == ("git", tree)
    assert built.run("rebase", "--to", "v0.32.0") == 0
    assert pin_of(built) == list(on_git(built.main[-1], "0.32.0"))
    assert built.run("verify") == 0
    assert built.run("rebase", "--to", "release:0.31.0") == 0
    assert (built.series.read_text(), built.lock.tree) == (text, tree)


@pytest.mark.parametrize("carried", [True, False])
def test_check_writes_nothing_at_all(
    built: Carrying, capfd: pytest.CaptureFixture[str], *, carried: bool
) -> None:
    if carried:
        assert built.run("add", clash(built, 5)) == 0
    before = snapshot(built.root)
    assert built.run("rebase", "--check", "--to", "main") == 4
    assert "would change: sample" in capfd.readouterr().err
    assert built.run("rebase", "--check", "--to", "0.31.0") == 0
    assert capfd.readouterr().err.endswith("nothing would change\n")
    assert snapshot(built.root) == before


def test_check_needs_no_folder_of_its_own(carrying: Carrying) -> None:
    before = snapshot(carrying.root)
    assert carrying.run("rebase", "--check", "--to", "0.32.0") == 4
    assert snapshot(carrying.root) == before
    assert not (carrying.root / ".lanewright").exists()


@pytest.mark.parametrize("to", ["0.31.0", "v0.32.0", "main"])
def test_a_lane_that_is_there_already_is_not_written(
    built: Carrying, to: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert built.run("rebase", "--to", to) == 0
    before = snapshot(built.root / "series")
    capfd.readouterr()
    assert built.run("rebase", "--to", to) == 0
    assert f"is on {built.lock.pin.ref} already, lock up to date" in capfd.readouterr().err
    assert snapshot(built.root / "series") == before
    assert built.run("rebase", "--check", "--to", to) == 0


def test_keep_going_leaves_the_conflict_open_until_it_is_resolved(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    stand(carrying, 'pin = "release:0.31.0"', image=SITE)
    assert carrying.run("add", POOL) == 0
    assert carrying.run("add", BANK) == 0
    assert carrying.run("rebase", "--to", "0.32.0", "--keep-going") == 3
    assert "they are open in the lock" in capfd.readouterr().err
    lock = carrying.lock
    assert (lock.pin.ref, is_open(lock)) == ("release:0.32.0", True)
    by_name = {entry.name: entry for entry in lock.entries}
    assert {hunk.outcome for hunk in by_name[POOL].hunks if hunk.open} == {"conflict"}
    assert by_name[POOL].tree == lock.pin.tree
    tree = carrying.read(lock.tree)
    assert BANK_FILE in tree
    assert not any("expert_pool" in path for path in tree)
    for command in (("build", "--check"), ("build",), ("verify",)):
        assert carrying.run(*command) == 0
    assert carrying.run("rebase", "--check", "--to", "0.32.0") == 0
    assert carrying.run("rebase", "--to", "0.32.0") == 3
    assert carrying.lock == lock
    carrying.settle(POOL)
    assert carrying.run("build", "--check") == 4
    assert carrying.run("build") == 0
    assert not is_open(carrying.lock)
    assert any("expert_pool" in path for path in carrying.read(carrying.lock.tree))
    assert carrying.run("verify") == 0


def test_a_series_that_is_no_text_is_told(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    carrying.series.write_bytes(b"title = '\xff'\n")
    assert carrying.run("rebase", "--to", "main") == 1
    assert "series/sample.toml is no valid TOML" in capfd.readouterr().err


def test_a_lane_that_is_not_behind_its_option_is_told_where_it_goes(
    carrying: Carrying, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        carrying.run("rebase", "sample")
    assert ended.value.code == 2
    assert "`rebase` takes its lane behind --lane: --lane sample\n" in capfd.readouterr().err
