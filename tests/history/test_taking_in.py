"""What of nights and runs comes into the history, and what does not."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lanewright.history.taking_in import take_in
from lanewright.nightly.night import Step
from lanewright.places import Places
from tests.history.made import (
    FAILED,
    TREE,
    at,
    equality,
    held_rows,
    lay_arm,
    lay_night,
    lay_run,
    step,
)

Capture = pytest.CaptureFixture[str]


def test_nothing_is_there_yet(places: Places) -> None:
    assert take_in(places) == 0
    assert not any(held_rows(places).values())


def test_a_run_with_all_it_has(places: Places) -> None:
    folder = lay_run(places, at(1))
    lay_arm(folder, "pin.eager.baseline", 4.0)
    lay_arm(folder, "lane.eager.on", 5.0)
    (folder / "equality" / "pin.spec.json").write_text("{}")
    (folder / "equality" / "eager.usage.json").write_text("{}")
    assert take_in(places) == 1
    rows = held_rows(places)
    key = ("sample", folder.name)
    [run] = rows["runs"]
    assert run[:15] == (
        *key,
        *("2026-11-01T02:00:00Z", "2026-11-01T02:00:00Z", "0.1.0", "release:1.1", TREE, TREE),
        *(f"sha256:{'1' * 64}", "0" * 64, "tiny", "equal", "passed", 0, None),
    )
    assert rows["entries"] == [(*key, 0, "hook", "patch"), (*key, 1, "bank", "overlay")]
    assert rows["outcomes"] == [(*key, 0, "clean", 1), (*key, 0, "merged", 2)]
    assert rows["equality"] == [
        (*key, 0, "eager", "self", "control", 44, 44, "equal", None),
        (*key, 1, "eager", "exchanged", "negative control", 0, 44, "equal", 7),
        (*key, 2, "eager", "on", "arm", 44, 44, "equal", None),
    ]
    assert [row[3] for row in rows["proofs"]] == ["offline", "server", "eager.on"]
    assert json.loads(rows["proofs"][0][-1]) == {"picks": 6}
    assert (*key, "offline", "import", 12.8) in rows["timings"]
    assert (*key, "eager.on", "engine", 2.0) in rows["timings"]
    assert rows["throughput"] == [
        (*key, "boot", "offline", 4, 2.0, folder.name, None),
        (*key, "boot", "server", 4, 0.5, folder.name, None),
        (*key, "eager", "baseline", 128, 4.0, folder.name, 1),
        (*key, "eager", "on", 128, 5.0, folder.name, 1),
    ]


def test_a_run_that_failed_before_it_booted(places: Places) -> None:
    nothing: dict[str, Any] = {"boots": {"offline": None, "server": None}, "model": None}
    lay_run(places, at(1), **FAILED, **nothing, layer=None)
    assert take_in(places) == 1
    [run] = held_rows(places)["runs"]
    assert run[12:15] == ("failed", 1, "engine died")


def test_an_arm_is_told_as_of_the_run_that_booted_it(places: Places) -> None:
    earlier = {"run": "20261031T020000Z-01234567", "finished": "2026-10-31T02:10:00Z"}
    resumed = equality(resumed={"eager.baseline": earlier})
    first = lay_run(places, at(1), equality=resumed)
    lay_arm(first, "pin.eager.baseline", 4.0)
    second = lay_run(places, at(2), **FAILED)
    noted = lay_arm(second, "pin.eager.baseline", 4.0).with_suffix(".finished.json")
    note = {"key": "k", "run": first.name, "finished": earlier["finished"], "boot_map": None}
    noted.write_text(json.dumps({**note, "files": {}}))
    take_in(places)
    arms = [row for row in held_rows(places)["throughput"] if row[2] == "eager"]
    assert [row[6] for row in arms] == [earlier["run"], first.name]


def test_a_night_with_its_pull_requests(places: Places) -> None:
    told = [
        {
            "lane": "sample",
            "pin": "release:1.1",
            "pulls": [{"number": 7, "head": "a" * 40, "newest": "b" * 40, "state": "open"}],
            "watched": [{"number": 8, "title": "Watched"}],
        }
    ]
    steps = [
        Step(
            "status",
            ["status", "--json"],
            verdict="passed",
            exit_code=0,
            out="status.out",
            log="status.log",
        ),
        step("boot", "not run", exit_code=6, why="no GPU", run=f"20261101T020000Z-{TREE[:8]}"),
        step("smoke", "pending", exit_code=None, started=None, seconds=None),
    ]
    folder = lay_night(places, at(1), steps, lanes=["sample", "other"], finished=None)
    (folder / "status.out").write_text(json.dumps(told))
    assert take_in(places) == 1
    rows = held_rows(places)
    name = folder.name
    assert rows["nights"][0][:6] == (
        *(name, "2026-11-01T02:00:00Z", None, "0.1.0", "/project", TREE),
    )
    of_lanes = [(name, 0, "sample", None, None), (name, 1, "other", None, None)]
    assert rows["night_lanes"] == of_lanes
    assert [row[5:8] for row in rows["steps"]] == [
        ("passed", 0, None),
        ("not run", 6, "2026-11-01T02:00:00Z"),
        ("pending", None, None),
    ]
    assert [row[:5] for row in rows["pulls"]] == [
        (name, "sample", 7, "carried", "a" * 40),
        (name, "sample", 8, "watched", None),
    ]
    assert json.loads(rows["pulls"][0][-1]) == told[0]["pulls"][0]


def test_twice_is_once(places: Places) -> None:
    lay_run(places, at(1))
    lay_night(places, at(1), [step("boot")])
    assert take_in(places) == 2
    before = held_rows(places)
    assert take_in(places) == 0
    assert held_rows(places) == before


def test_a_night_that_went_on_is_taken_in_again(places: Places) -> None:
    lay_night(places, at(1), [step("build"), step("boot", "pending")], finished=None)
    take_in(places)
    lay_night(places, at(1), [step("build"), step("boot")])
    assert take_in(places) == 1
    rows = held_rows(places)
    assert [row[5] for row in rows["steps"]] == ["passed", "passed"]
    assert rows["nights"][0][2] is not None


def test_a_file_that_was_only_touched_is_not(places: Places) -> None:
    file = lay_run(places, at(1)) / "record.json"
    take_in(places)
    os.utime(file, ns=(1, 1))
    assert take_in(places) == 0
    assert take_in(places) == 0


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "null",
        '{"schema": 2}',
        "\xff",
        "[" * 100_000,
    ],
)
def test_what_is_damaged_is_told_and_passed_over(
    places: Places, capfd: Capture, content: str
) -> None:
    runs = [lay_run(places, at(day)) / "record.json" for day in (1, 2)]
    files = [lay_night(places, at(day), [step("boot")]) / "night.json" for day in (1, 2)]
    runs[0].write_text(content, encoding="latin-1")
    files[0].write_text(content, encoding="latin-1")
    assert take_in(places) == 2
    said = capfd.readouterr().err
    assert f"{runs[0]} is passed over: " in said
    assert f"{files[0]} is passed over: " in said
    assert [len(held_rows(places)[table]) for table in ("runs", "nights")] == [1, 1]


def _changed(file: Path, change: dict[str, Any]) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"lane": "other"},
        {"started": "yesterday"},
        {"error": {"message": "", "exit_code": 1}},
        {"verdict": "failed"},
        {"verdict": "failed", "error": {"message": "", "exit_code": 2**64}},
        {"entries": [{"name": 1, "kind": "patch"}]},
        {"lanewright": "\ud800"},
        {"equality": equality() | {"modes": [{"mode": "eager"}]}},
    ],
)
def test_a_record_that_is_none_is_passed_over(
    places: Places, capfd: Capture, change: dict[str, Any]
) -> None:
    file = lay_run(places, at(1)) / "record.json"
    _changed(file, change)
    assert take_in(places) == 0
    assert f"{file} is passed over: " in capfd.readouterr().err
    assert not any(held_rows(places).values())


@pytest.mark.parametrize(
    "change", [{"name": "other"}, {"steps": [{"name": "x", "command": [], "exit_code": 2**80}]}]
)
def test_a_night_that_is_none_is_passed_over(
    places: Places, capfd: Capture, change: dict[str, Any]
) -> None:
    file = lay_night(places, at(1), [step("boot")]) / "night.json"
    _changed(file, change)
    assert take_in(places) == 0
    assert f"{file} is passed over: " in capfd.readouterr().err
    assert not any(held_rows(places).values())


def test_a_damaged_night_leaves_what_was_known_of_it(places: Places) -> None:
    file = lay_night(places, at(1), [step("boot")]) / "night.json"
    take_in(places)
    before = held_rows(places)
    file.write_text("{")
    take_in(places)
    assert held_rows(places) == before


def test_strange_folders_and_files(places: Places, capfd: Capture) -> None:
    folder = lay_run(places, at(1))
    (places.state / "runs" / "sample" / "notes.txt").write_text("mine")
    folder.rename(folder.with_name("kept-by-me"))
    os.mkfifo(lay_run(places, at(2)).joinpath("pipe"))
    pipe = lay_run(places, at(3)) / "record.json"
    pipe.unlink()
    os.mkfifo(pipe)
    odd = Path(os.fsdecode(os.fsencode(places.state / "nights") + b"/\xff"))
    odd.mkdir(parents=True)
    (odd / "night.json").write_text("{}")
    (places.state / "runs" / "sample" / "20261105T020000Z-01234567").mkdir()
    assert take_in(places) == 1
    said = capfd.readouterr().err
    assert "kept-by-me/record.json is passed over" in said
    assert f"{pipe} is passed over" in said
    assert said.count("passed over") == 3


def test_a_damaged_result_and_status_are_left_out(places: Places, capfd: Capture) -> None:
    folder = lay_run(places, at(1))
    lay_arm(folder, "pin.eager.baseline", 4.0).write_text('{"seconds": {"generate": NaN}}')
    status = step("status", lane=None, out="../status.out")
    night = lay_night(places, at(1), [status])
    (night / "status.out").write_text("no JSON")
    assert take_in(places) == 2
    said = capfd.readouterr().err
    assert "pin.eager.baseline.json is passed over" in said
    assert f"{night}/status.out is passed over" in said
    assert held_rows(places)["pulls"] == []
