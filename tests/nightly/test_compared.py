"""Throughput beside each lane's own drift, as a night tells it: a line, a table, and never a failure."""

import os
import pty
from pathlib import Path

import pytest

from lanewright.history.taking_in import take_in
from lanewright.nightly.compared import runs_of
from lanewright.nightly.night import read_night
from lanewright.nightly.told import markdown, text
from lanewright.places import Places
from lanewright.terminal import Amber, emit_lines
from tests.commands.stand_in_lane import Lay
from tests.history.made import at, equality, lay_arm, lay_night, lay_run, night, step
from tests.nightly.nights import folders, step_of
from tests.nightly.nights import night as newest

Capture = pytest.CaptureFixture[str]
EARLIER = {"run": "2026|x\n`y`", "finished": "2026-10-31T02:10:00Z"}


def compared(places: Places, **ratios: float) -> Path:
    """A run whose arms were so fast beside their baseline; the arm ``off`` was resumed."""
    folder = lay_run(places, at(1), equality=equality(resumed={"eager.off": EARLIER}))
    lay_arm(folder, "pin.eager.baseline", 10.0, 1408)
    for name, ratio in ratios.items():
        side = "pin" if name == "self" else "lane"
        lay_arm(folder, f"{side}.eager.{name}", 10.0 / ratio, 1408)
    return folder


def test_slower_is_amber_and_no_failure(places: Places, tmp_path: Path) -> None:
    folder = compared(places, self=0.96, on=0.9, off=1.0, swaps=0.97)
    take_in(places)
    spent = night(at(1), [step("boot", run=folder.name)])
    runs = runs_of(places, spent)
    *_, last = text(spent, tmp_path, runs)
    assert last == (
        "    throughput eager, 4.00 % either way, by 1 run: off not counted (it was resumed from run"
        " 2026|x\\n`y`), on slower (-10.00 %), swaps within the drift (-3.00 %)"
    )
    assert isinstance(last, Amber)
    assert "  sample: passed" in text(spent, tmp_path, runs)
    assert spent.worst() == 0
    told = markdown(spent, tmp_path, runs).splitlines()
    place = told.index("| lane | mode | arm | throughput | the lane's own drift |")
    band = r"4\.00 % either way, by 1 run"
    resumed = r"⚪ not counted (it was resumed from run 2026\|x\\n\`y\`)"
    assert told[place + 1 :] == [
        "| --- | --- | --- | --- | --- |",
        f"| sample | eager | off | {resumed} | {band} |",
        f"| sample | eager | on | 🟠 slower (-10.00 %) | {band} |",
        f"| sample | eager | swaps | ⚪ within the drift (-3.00 %) | {band} |",
    ]


def test_what_is_not_slower_is_not_amber(places: Places, tmp_path: Path) -> None:
    folder = compared(places, on=1.1)
    take_in(places)
    spent = night(at(1), [step("boot", run=folder.name)])
    runs = runs_of(places, spent)
    *_, last = text(spent, tmp_path, runs)
    assert last == (
        "    throughput eager, 3.00 % either way, the least: no self control counts:"
        " on faster (+10.00 %)"
    )
    assert not isinstance(last, Amber)
    assert "| 🔵 faster (+10.00 %) |" in markdown(spent, tmp_path, runs)


def test_without_a_comparison_nothing_is_told(places: Places, tmp_path: Path) -> None:
    folder = lay_run(places, at(1))
    take_in(places)
    spent = night(at(1), [step("boot", run=folder.name), step("smoke", run="absent")])
    runs = runs_of(places, spent)
    assert "throughput" not in "\n".join(text(spent, tmp_path, runs))
    assert "own drift" not in markdown(spent, tmp_path, runs)


def test_a_history_that_cannot_be_read_fails_no_night(places: Places, capfd: Capture) -> None:
    folder = compared(places, on=0.5)
    lay_night(places, at(1), [step("boot", run=folder.name)])
    (places.state / "history.sqlite").write_text("no database")
    assert runs_of(places, night(at(1), [step("boot", run=folder.name)])) == {}
    assert "the night's throughput is not told: " in capfd.readouterr().err


@pytest.mark.parametrize("plain", [True, False])
def test_amber_is_for_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, *, plain: bool) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    head, tail = pty.openpty()
    with os.fdopen(tail, "w") as terminal:
        monkeypatch.setattr("sys.stdout", terminal)
        assert emit_lines(["a \x1b[2J", Amber("b \x1b[2J")])
    shown = os.read(head, 4096).decode().splitlines()
    os.close(head)
    last = "b \\x1b[2J" if plain else "\x1b[33mb \\x1b[2J\x1b[0m"
    assert shown == ["a \\x1b[2J", last]


def test_a_night_tells_it(
    lay: Lay, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))
    world = lay()
    capfd.readouterr()
    assert world.run("nightly") == 0
    out = capfd.readouterr().out.splitlines()
    for mode in ("eager", "compiled"):
        (line,) = [each for each in out if each.startswith(f"    throughput {mode}, ")]
        assert " % either way, by 1 run: off " in line
    run = runs_of(world.places, read_night(folders(world)[-1]))["sample"]
    assert run.folder == step_of(newest(world), "sample", "boot")["run"]
    assert [each.runs for each in run.bands] == [1, 1]
    assert run.drift == 0.03
    assert run.hardware
    assert "| sample | eager | off | " in (tmp_path / "page.md").read_text()
