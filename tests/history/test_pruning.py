"""``lanewright history --prune``: what leaves the disk, and what never does."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from lanewright.__main__ import run
from lanewright.history.pruning import Pruned, prune
from lanewright.history.taking_in import take_in
from lanewright.nightly.night import FILE as NIGHT
from lanewright.places import Places
from tests.history.made import FAILED, at, held_rows, lay_arm, lay_night, lay_run, step
from tests.killing import kills, restoring

Capture = pytest.CaptureFixture[str]
NOW = at(20)
OF_THREE_DAYS = {f"2026110{day}T020000Z" for day in (1, 2, 3)} | {
    f"sample/2026110{day}T020000Z-01234567" for day in (1, 2, 3)
}


def left(places: Places) -> set[str]:
    """Folders of nights and runs that are on disk."""
    state = places.state
    return {
        str(folder.relative_to(state))
        for folder in (*state.glob("nights/*"), *state.glob("runs/*/*"))
    }


def pruned_rows(places: Places) -> set[str]:
    rows = held_rows(places)
    return {row[0] for row in rows["nights"] if row[6]} | {
        f"{row[0]}/{row[1]}" for row in rows["runs"] if row[15]
    }


def removed(found: Pruned) -> set[str]:
    return {each.folder for each in found.removed}


def test_what_is_old_goes_and_stays_in_the_history(places: Places, capfd: Capture) -> None:
    for day in (1, 5, 12, 19):
        folder = lay_run(places, at(day))
        lay_arm(folder, "lane.eager.on", 5.0)
        lay_night(places, at(day), [step("boot", run=folder.name)])
    take_in(places)
    before = held_rows(places)
    size = sum(
        file.stat().st_size
        for day in ("01", "05")
        for file in places.state.rglob(f"202611{day}T*/**/*")
        if file.is_file()
    )
    found = prune(places, 10, now=NOW)
    assert removed(found) == {
        *("nights/20261101T020000Z", "nights/20261105T020000Z"),
        *("runs/sample/20261101T020000Z-01234567", "runs/sample/20261105T020000Z-01234567"),
    }
    assert found.bytes == size
    assert not found.kept
    assert len(left(places)) == 4
    assert not removed(found) & left(places)
    assert take_in(places) == 0
    after = held_rows(places)
    assert {name: len(rows) for name, rows in after.items()} == {
        name: len(rows) for name, rows in before.items()
    }
    assert after["throughput"] == before["throughput"]
    assert len(pruned_rows(places)) == 4
    assert run(["history"]) == 0
    assert "20261101T020000Z, pruned" in capfd.readouterr().out


def test_what_began_so_many_days_ago_to_the_second_stays(places: Places) -> None:
    lay_night(places, at(1), [])
    lay_night(places, at(2), [])
    exactly = at(1) + timedelta(days=10)
    assert not prune(places, 10, now=exactly).removed
    assert removed(prune(places, 10, now=exactly + timedelta(seconds=1))) == {
        "nights/20261101T020000Z"
    }


def test_the_newest_night_stays_however_old_and_unfinished(places: Places) -> None:
    lay_night(places, at(1), [step("boot", "pending")], finished=None)
    lay_night(places, at(2), [step("boot", "pending")], finished=None)
    found = prune(places, 1, now=NOW)
    assert removed(found) == {"nights/20261101T020000Z"}
    assert [(each.folder, each.why) for each in found.kept] == [
        ("nights/20261102T020000Z", "it is the newest night")
    ]


def test_the_newest_run_and_the_newest_that_passed_stay(places: Places) -> None:
    for day in (1, 2, 3):
        lay_run(places, at(day))
    for day in (4, 5):
        lay_run(places, at(day), **FAILED)
    lay_run(places, at(1), "other")
    found = prune(places, 1, now=NOW)
    assert {folder for folder in left(places) if folder.startswith("runs/")} == {
        "runs/other/20261101T020000Z-01234567",
        "runs/sample/20261103T020000Z-01234567",
        "runs/sample/20261105T020000Z-01234567",
    }
    assert {each.why for each in found.kept} == {
        "it is the lane's newest run",
        "it is the newest that passed",
    }


def test_a_run_that_goes_on_without_a_record_is_the_newest(places: Places) -> None:
    for day in (1, 2):
        lay_run(places, at(day))
    killed, going_on = (
        places.state / "runs/sample" / name
        for name in ("20261101T020000Z-fedcba98", "20261103T020000Z-01234567")
    )
    killed.mkdir()
    going_on.mkdir()
    prune(places, 1, now=NOW)
    assert left(places) == {
        "runs/sample/20261102T020000Z-01234567",
        "runs/sample/20261103T020000Z-01234567",
    }


def test_an_interrupted_comparison_stays(places: Places) -> None:
    folders = [lay_run(places, at(day), **FAILED) for day in (1, 2)]
    lay_run(places, at(3))
    lay_arm(folders[0], "pin.eager.baseline", 4.0)
    (folders[0] / "equality" / "pin.eager.baseline.finished.json").write_text("{}")
    found = prune(places, 1, now=NOW)
    assert removed(found) == {"runs/sample/20261102T020000Z-01234567"}
    [kept] = [each for each in found.kept if each.folder.endswith("01T020000Z-01234567")]
    assert "finished arms of a comparison" in kept.why


def test_nothing_that_is_not_ours_or_not_known_goes(places: Places, tmp_path: Path) -> None:
    lay_run(places, at(9))
    lay_night(places, at(9), [])
    elsewhere = Places(tmp_path / "store", tmp_path / "elsewhere")
    outside = lay_run(elsewhere, at(1))
    for day in (8, 9):
        lay_run(elsewhere, at(day), "linked")
    runs, nights = places.state / "runs", places.state / "nights"
    (runs / "sample" / outside.name).symlink_to(outside)
    (runs / "linked").symlink_to(elsewhere.state / "runs" / "linked")
    (runs / "sample" / "mine").mkdir()
    (runs / "sample" / "20261399T020000Z-01234567").mkdir()
    (runs / "Not a lane").mkdir()
    damaged = lay_run(places, at(2)) / "record.json"
    damaged.write_text("{")
    foreign = lay_night(places, at(2), [])
    (foreign / NIGHT).write_text("{}")
    (nights / "empty").mkdir()
    timeless = lay_night(places, at(3), [])
    told = json.loads((timeless / NIGHT).read_text())
    (timeless / NIGHT).write_text(json.dumps({**told, "started": "long ago"}))
    there = left(places) | left(elsewhere)
    found = prune(places, 1, now=NOW)
    assert not found.removed
    assert left(places) | left(elsewhere) == there
    whys = {each.folder: each.why for each in found.kept}
    assert whys[f"runs/sample/{outside.name}"] == "a link leads there"
    assert whys["runs/linked/20261108T020000Z-01234567"] == "a link leads there"
    assert whys["runs/sample/mine"] == "it has no name of a run"
    assert whys[f"runs/sample/{damaged.parent.name}"] == "its record cannot be read"
    assert whys[f"nights/{foreign.name}"] == "it holds no night that can be read"
    assert whys[f"nights/{timeless.name}"] == "it does not tell when it began"


def test_links_in_a_run_are_not_followed(places: Places, tmp_path: Path) -> None:
    folder = lay_run(places, at(1))
    lay_run(places, at(2))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("mine")
    (folder / "link").symlink_to(tmp_path / "mine")
    assert len(prune(places, 1, now=NOW).removed) == 1
    assert (tmp_path / "mine" / "file").read_text() == "mine"


def test_a_night_that_is_back_is_marked_no_more(places: Places) -> None:
    for day in (1, 2):
        lay_night(places, at(day), [])
    prune(places, 1, now=NOW)
    assert pruned_rows(places) == {"20261101T020000Z"}
    lay_night(places, at(1), [])
    take_in(places)
    assert pruned_rows(places) == set()


@pytest.mark.parametrize("arguments", [["0"], ["-1"], ["many"], ["1e9"], ["99999999999"]])
def test_no_number_of_days_ends_with_2(places: Places, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["history", "--prune", *arguments])
    assert ended.value.code == 2
    assert not places.state.exists()


@pytest.mark.parametrize("more", [["sample"], ["--runs"], ["--nights", "1"]])
def test_it_is_of_all(places: Places, more: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["history", "--prune", "3", *more])
    assert ended.value.code == 2
    assert not places.state.exists()


def test_it_is_told_on_a_command_line(places: Places, capfd: Capture) -> None:
    lay_run(places, at(1))
    lay_run(places, at(2))
    assert run(["history", "--prune", "1"]) == 0
    captured = capfd.readouterr()
    first, last = captured.out.splitlines()
    assert first.startswith("removed runs/sample/20261101T020000Z-01234567: ")
    assert last.startswith("1 folder removed, ")
    assert "kept runs/sample/20261102T020000Z-01234567: it is the lane's newest run" in captured.err
    assert run(["history", "--prune", "1", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert (found["removed"], found["bytes"], len(found["kept"])) == ([], 0, 1)


def test_killed_at_every_step_and_then_again(places: Places, tmp_path: Path) -> None:
    for day in (1, 2, 3):
        folder = lay_run(places, at(day))
        lay_night(places, at(day), [step("boot", run=folder.name)])
    take_in(places)
    before = held_rows(places)
    prepare = restoring(places.state)
    count = 0
    for killed in kills(["history", "--prune", "1"], tmp_path, {}, prepare):
        count += 1
        gone = OF_THREE_DAYS - {name.partition("/")[2] for name in left(places)}
        assert gone <= pruned_rows(places), killed
        assert run(["history", "--prune", "1"]) == 0
        assert left(places) == {"nights/20261103T020000Z", "runs/sample/20261103T020000Z-01234567"}
        assert not list(places.state.rglob(".making-*"))
        after = held_rows(places)
        assert {name: len(rows) for name, rows in after.items()} == {
            name: len(rows) for name, rows in before.items()
        }
        assert len(pruned_rows(places)) == 4
    assert count >= 8
