"""Arms beside the lane's own drift, as nights leave them and the history tells them."""

import hashlib
import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lanewright.__main__ import run
from lanewright.history import band
from lanewright.history.database import FILE, opened
from lanewright.history.migrations import MIGRATIONS, migrate
from lanewright.history.on_disk import OnDisk
from lanewright.history.past import PastRun
from lanewright.history.runs import all_runs
from lanewright.history.taking_in import take_in
from lanewright.places import Places
from tests.history.made import HARDWARE, at, equality, lay_arm, lay_night, lay_run, record, step
from tests.history.test_together import TAKING

Capture = pytest.CaptureFixture[str]
# Of one pass; an arm gives both passes' tokens.
TOKENS = 1408
EARLIER = {"run": "20261031T020000Z-01234567", "finished": "2026-10-31T02:10:00Z"}
OWN_DRIFT = (
    "        own drift eager: 3.00 % either way (at least 3.00 %, by this run's self control 2.00 %,"
    f" by those of 2 runs on {HARDWARE} 2.00 %)\n"
)
OTHER: dict[str, Any] = {"hardware": "aarch64, CPU part 0xd4f, 72 cores, GB300"}


def lay(
    places: Places,
    day: int,
    *,
    own: float | None = 1.0,
    arms: dict[str, float] | None = None,
    cores: int | None = 1,
    tokens: int = TOKENS,
    environment: dict[str, Any] | None = None,
    **changed: Any,  # noqa: ANN401 - of a record
) -> Path:
    """A run of a day: its self control's and its arms' tokens a second by its baseline's."""
    whole = {**record(at(day))["environment"], **(environment or {})}
    given = {name: value for name, value in whole.items() if value != ""}
    folder = lay_run(places, at(day), environment=given, **changed)
    lay_arm(folder, "pin.eager.baseline", 10.0, tokens, cores)
    if own is not None:
        lay_arm(folder, "pin.eager.self", 10.0 / own, tokens, cores)
    for name, ratio in (arms or {}).items():
        lay_arm(folder, f"lane.eager.{name}", 10.0 / ratio, tokens, cores)
    return folder


def runs(places: Places) -> list[PastRun]:
    """The oldest first."""
    take_in(places)
    with opened(places) as connection:
        return all_runs(connection, "sample")[::-1]


def words(found: PastRun) -> dict[str, tuple[str, str]]:
    return {each.arm: (each.word, each.why) for each in found.throughput if each.mode == "eager"}


def test_the_band_is_of_this_run_and_of_those_before(places: Places) -> None:
    for day, own in enumerate((1.0, 0.99, 1.05, 1.0), 1):
        lay(places, day, own=own, arms={"on": 0.96})
    bands = [msgspec.to_builtins(each.bands) for each in runs(places)]
    common = {"mode": "eager", "floor": 0.03}
    assert bands == [
        [{**common, "width": 0.03, "own": 1.0, "spread": 0.0, "runs": 1}],
        [{**common, "width": 0.03, "own": 0.99, "spread": 0.01, "runs": 2}],
        [{**common, "width": 0.05, "own": 1.05, "spread": 0.05, "runs": 3}],
        [{**common, "width": 0.05, "own": 1.0, "spread": 0.05, "runs": 4}],
    ]
    assert [words(each)["on"][0] for each in runs(places)] == [
        *("slower", "slower"),
        *("within the drift", "within the drift"),
    ]


def test_every_arm_has_a_word_and_controls_have_none(places: Places) -> None:
    lay(places, 1, arms={"off": 0.97, "on": 1.2, "swaps": 0.5})
    (found,) = runs(places)
    assert words(found) == {
        "baseline": ("", ""),
        "self": ("", ""),
        "off": ("within the drift", ""),
        "on": ("faster", ""),
        "swaps": ("slower", ""),
    }
    assert {each.word for each in found.throughput if each.mode == "boot"} == {""}


def test_it_stands_on_the_last_runs_alone(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lanewright.history.speeds.RUNS", 3)
    for day, own in enumerate((0.5, 1.0, 1.01, 1.02), 1):
        lay(places, day, own=own)
    (last,) = runs(places)[-1].bands
    assert (last.runs, last.spread) == (3, 0.02)
    assert band.RUNS == 20


@pytest.mark.parametrize(
    "other",
    [
        {"environment": OTHER},
        # An earlier lanewright's, which may be of any machine.
        {"environment": {"hardware": ""}},
        {"cores": 2},
        {"cores": None},
        {"equality": equality(resumed={"eager.self": EARLIER})},
        {"equality": equality(resumed={"eager.baseline": EARLIER})},
        {"equality": equality(resumed={"eager.self": EARLIER, "eager.baseline": EARLIER})},
        {"tokens": 255},
        {"own": None},
    ],
)
def test_only_like_is_compared_with_like(places: Places, other: dict[str, Any]) -> None:
    lay(places, 1, **{"own": 0.5, **other})
    lay(places, 2, own=0.96)
    (last,) = runs(places)[-1].bands
    assert (last.runs, last.width) == (1, 0.04)


def test_another_lanes_runs_and_another_modes_say_nothing(places: Places) -> None:
    lay(places, 1, own=0.5, lane="other")
    compiled = lay(places, 2, own=None)
    lay_arm(compiled, "pin.compiled.baseline", 10.0, TOKENS)
    lay_arm(compiled, "pin.compiled.self", 20.0, TOKENS)
    lay(places, 3)
    (last,) = runs(places)[-1].bands
    assert (last.mode, last.runs, last.width) == ("eager", 1, 0.03)


def test_a_machine_that_is_not_told_is_like_no_other(places: Places) -> None:
    for day, own in ((1, 0.5), (2, 0.96)):
        lay(places, day, own=own, cores=None, environment={"hardware": ""})
    (last,) = runs(places)[-1].bands
    assert (last.runs, last.width) == (1, 0.04)


def test_the_series_says_what_it_is_at_least(places: Places) -> None:
    lay(places, 1, arms={"on": 0.95}, drift=0.05)
    lay(places, 2, arms={"on": 0.98}, drift=0.01)
    wide, narrow = runs(places)
    assert (wide.drift, wide.bands[0].width, words(wide)["on"][0]) == (
        *(0.05, 0.05),
        "within the drift",
    )
    assert (narrow.drift, narrow.bands[0].width, words(narrow)["on"][0]) == (0.01, 0.01, "slower")


def test_without_a_self_control_it_is_the_least(places: Places) -> None:
    lay(places, 1, own=None, arms={"on": 0.97})
    (found,) = runs(places)
    assert msgspec.to_builtins(found.bands) == [
        {"mode": "eager", "width": 0.03, "floor": 0.03, "own": None, "spread": None, "runs": 0}
    ]
    assert words(found)["on"] == ("within the drift", "")


@pytest.mark.parametrize("arm", ["on", "baseline"])
def test_a_resumed_arm_is_not_counted(places: Places, arm: str) -> None:
    lay(places, 1, arms={"on": 0.5}, equality=equality(resumed={f"eager.{arm}": EARLIER}))
    (found,) = runs(places)
    whose = "it" if arm == "on" else "its baseline"
    why = f"{whose} was resumed from run {EARLIER['run']}"
    assert words(found)["on"] == ("not counted", why)
    assert found.throughput[-2].ratio is None


def test_arms_on_other_cores_are_not_counted(places: Places) -> None:
    folder = lay(places, 1)
    lay_arm(folder, "lane.eager.on", 20.0, TOKENS, 2)
    (found,) = runs(places)
    assert words(found)["on"] == ("not counted", "it ran on 2 cores, its baseline on 1 core")


def test_an_arm_without_a_baseline_is_not_counted(places: Places) -> None:
    folder = lay_run(places, at(1))
    lay_arm(folder, "lane.eager.on", 10.0, TOKENS)
    (found,) = runs(places)
    assert found.bands == []
    assert words(found) == {"on": ("not counted", "its mode has no baseline")}


@pytest.mark.parametrize("arm", ["baseline", "self", "on"])
@pytest.mark.parametrize(
    "damage",
    [
        "seconds = 0",
        "seconds = -1",
        "seconds = 9e999",
        "seconds = -9e999",
        "tokens = 0",
        "tokens = -9",
    ],
)
def test_damaged_numbers_are_told_as_none(
    places: Places, capfd: Capture, arm: str, damage: str
) -> None:
    folder = lay(places, 1, own=0.99, arms={"on": 0.99})
    lay_night(places, at(1), [step("boot", run=folder.name)])
    take_in(places)
    with closing(sqlite3.connect(places.state / FILE)) as connection, connection:
        connection.execute(f"UPDATE throughput SET {damage} WHERE arm = ?", (arm,))  # noqa: S608
    (found,) = runs(places)
    (told,) = found.bands
    word, why = words(found)["on"]
    assert (told.runs, told.width) == ((1, 0.03) if arm == "on" else (0, 0.03))
    assert word == ("within the drift" if arm == "self" else "not counted")
    assert why.endswith("are no measure") is (arm != "self")
    capfd.readouterr()
    assert run(["history", "sample"]) == 0
    assert f"    on eager: {word} (" in capfd.readouterr().out
    assert run(["history", "--json", "--runs"]) == 0
    json.loads(capfd.readouterr().out)


@pytest.mark.parametrize("drift", ["-1", "0", "1", "9e999"])
def test_a_damaged_floor_is_the_usual_one(places: Places, drift: str) -> None:
    lay(places, 1)
    take_in(places)
    with closing(sqlite3.connect(places.state / FILE)) as connection, connection:
        connection.execute(f"UPDATE runs SET drift = {drift}")  # noqa: S608
    (found,) = runs(places)
    assert (found.bands[0].floor, found.bands[0].width) == (0.03, 0.03)


@pytest.mark.parametrize("drift", [0, 1, -0.03, "much"])
def test_a_record_that_says_no_drift_is_passed_over(
    places: Places, capfd: Capture, drift: object
) -> None:
    file = lay(places, 1) / "record.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps({**told, "drift": drift}))
    assert runs(places) == []
    said = capfd.readouterr().err
    assert f"{file} is passed over: " in said
    assert "at `$.drift`" in said


def test_an_old_record_is_read(places: Places) -> None:
    file = lay(places, 1, own=0.98, arms={"on": 0.96}, cores=None) / "record.json"
    told = json.loads(file.read_text())
    del told["drift"], told["environment"]
    file.write_text(json.dumps(told))
    (found,) = runs(places)
    assert (found.hardware, found.drift) == (None, None)
    assert (found.bands[0].runs, found.bands[0].width) == (1, 0.03)
    assert words(found)["on"] == ("slower", "")


def test_it_is_told_to_people(places: Places, capfd: Capture) -> None:
    for day, ratio in ((1, 0.99), (2, 0.9)):
        folder = lay(places, day, own=0.98, arms={"on": ratio, "off": 1.0, "swaps": 0.5})
        lay_night(places, at(day), [step("boot", run=folder.name)])
    assert run(["history", "sample"]) == 0
    newer, older = capfd.readouterr().out.split("\nnight 20261101T020000Z: ")
    for line in (
        "  sample: passed, slower: eager on\n",
        "off 1.000 of it, on 0.900 of it, self 0.980 of it, swaps 0.500 of it\n",
        OWN_DRIFT,
        "        on eager: slower (-10.00 %)\n",
        "        off eager: within the drift (+0.00 %)\n",
        "    since night 20261101T020000Z: throughput eager on: within the drift -> slower\n",
    ):
        assert line in newer, line
    grid = [" ".join(line.split()) for line in newer.splitlines()]
    assert "20261102T020000Z passed, slower: eager on" in grid
    assert "  sample: passed\n" in older
    assert "        on eager: within the drift (-1.00 %)\n" in older
    assert "throughput eager swaps: " not in newer


@pytest.mark.parametrize("plain", [True, False])
def test_slower_is_amber_on_a_terminal(places: Places, *, plain: bool) -> None:
    folder = lay(places, 1, arms={"on": 0.9, "off": 1.0})
    lay_night(places, at(1), [step("boot", run=folder.name)])
    head, tail = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
    environ.pop("NO_COLOR", None)
    subprocess.run(
        [sys.executable, "-m", "lanewright", "history", "sample"],
        stdout=tail,
        env={**environ, **({"NO_COLOR": "1"} if plain else {})},
        check=True,
    )
    os.close(tail)
    shown = os.read(head, 65536).decode()
    os.close(head)
    assert "on eager: slower (-10.00 %)" in shown
    assert ("\x1b[33m        on eager: slower (-10.00 %)\x1b[0m" in shown) is not plain
    # In the grid, too; nothing is green where a lane is slower.
    assert ("\x1b[33mpassed, slower: eager on" in shown) is not plain
    assert "\x1b[32m" not in shown


def test_it_is_typed_for_programs(places: Places, capfd: Capture) -> None:
    lay(places, 1, arms={"on": 0.9}, equality=equality(resumed={"eager.off": EARLIER}))
    assert run(["history", "--json", "--runs"]) == 0
    (found,) = json.loads(capfd.readouterr().out)["runs"]
    assert (found["hardware"], found["drift"]) == (HARDWARE, 0.03)
    assert found["bands"] == [
        {"mode": "eager", "width": 0.03, "floor": 0.03, "own": 1.0, "spread": 0.0, "runs": 1}
    ]
    (on,) = [each for each in found["throughput"] if each["arm"] == "on"]
    assert (on["ratio"], on["word"], on["why"], on["cores"]) == (0.9, "slower", "", 1)


def test_what_was_pruned_is_judged_still(places: Places) -> None:
    for day in (1, 2):
        lay(places, day, own=0.95, arms={"on": 0.94})
    before = runs(places)
    shutil.rmtree(places.state / "runs")
    assert runs(places) == before


def test_what_is_not_counted_is_no_news(places: Places, capfd: Capture) -> None:
    for day, tokens in ((1, TOKENS), (2, 255), (3, TOKENS)):
        folder = lay(places, day, tokens=tokens, arms={"on": 0.99 if day < 3 else 0.5})
        lay_night(places, at(day), [step("boot", run=folder.name)])
    assert run(["history", "sample"]) == 0
    out = capfd.readouterr().out
    assert "    on eager: not counted (510 tokens are too few: 512 are needed)\n" in out
    assert ": throughput eager on: " not in out


def test_a_later_run_changes_no_earlier_word(places: Places) -> None:
    lay(places, 1, arms={"on": 0.96})
    (before,) = runs(places)
    lay(places, 2, own=0.5)
    assert runs(places)[0] == before


def test_an_older_history_is_judged_once_its_runs_were_read_again(places: Places) -> None:
    folders = [lay(places, day, own=0.98, arms={"on": 0.9}) for day in (1, 2)]
    with closing(sqlite3.connect(places.state / FILE, isolation_level=None)) as connection:
        migrate(connection, places.state / FILE, MIGRATIONS[:2])
        for folder in folders:
            lay_row_of_before(connection, folder)
    shutil.rmtree(folders[0])
    # What is gone has no hardware, and is judged by itself; the other is read once more.
    gone, there = runs(places)
    assert (gone.hardware, gone.bands[0].runs, gone.bands[0].width) == (None, 1, 0.0476)
    assert words(gone)["on"] == ("slower", "")
    assert (there.hardware, there.bands[0].runs, there.bands[0].width) == (HARDWARE, 1, 0.03)


def lay_row_of_before(connection: sqlite3.Connection, folder: Path) -> None:
    """A run as an earlier lanewright took it in, and would not look at again."""
    found = OnDisk(folder, "sample")
    digest = hashlib.sha256(found.file.read_bytes()).hexdigest()
    facts = ("2026-11-01T02:00:00Z",) * 2 + ("0.1.0", "release:1.1", "0", "0")
    more = (None, "0", None, None, "passed", 0, None, None, found.stamp(), digest)
    marks = ", ".join("?" * 18)
    connection.execute(f"INSERT INTO runs VALUES ({marks})", (*found.key, *facts, *more))  # noqa: S608
    for arm, seconds in (("baseline", 10.0), ("self", 10.5), ("on", 12.0)):
        row = (*found.key, "eager", arm, 2816, seconds, folder.name)
        connection.execute("INSERT INTO throughput VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_writers_at_once_give_one_band(places: Places) -> None:
    for day in range(1, 13):
        lay(places, day, own=1 + day / 1000, arms={"on": 0.98})
    undisturbed = runs(places)
    assert undisturbed[-1].bands[0].runs == 12
    assert undisturbed[-1].bands[0].spread == 0.011
    for file in places.state.glob(f"{FILE}*"):
        file.unlink()
    # Of a history in the form before, which both bring to this one.
    with closing(sqlite3.connect(places.state / FILE, isolation_level=None)) as connection:
        migrate(connection, places.state / FILE, MIGRATIONS[:2])
    command = [sys.executable, "-c", TAKING, str(places.state)]
    writers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    (places.state / "go").touch()
    ended = [writer.communicate(timeout=120) for writer in writers]
    assert [said for _, said in ended] == ["", ""]
    assert sum(int(out) for out, _ in ended) == 12
    assert runs(places) == undisturbed
